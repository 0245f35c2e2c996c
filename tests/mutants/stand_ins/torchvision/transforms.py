"""Transforms that leave a picture's content alone."""

import torch
from torch import nn


class Compose:
    """One transform after the other."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, picture):
        for transform in self.transforms:
            picture = transform(picture)
        return picture


class ToTensor:
    """A picture as floats, channels first."""

    def __call__(self, picture):
        tensor = torch.as_tensor(picture).float() / 255
        return tensor[None] if tensor.ndim == 2 else tensor.permute(2, 0, 1)


class Normalize(nn.Module):
    """Minus the mean, by the deviation."""

    def __init__(self, mean, std):
        super().__init__()
        self.mean, self.std = (torch.as_tensor(values)[:, None, None] for values in (mean, std))

    def forward(self, tensor):
        return (tensor - self.mean) / self.std


class _Same(nn.Module):
    def __init__(self, *arguments, **options):
        super().__init__()

    def forward(self, picture):
        return picture


Pad = RandomCrop = RandomHorizontalFlip = Resize = CenterCrop = _Same
ColorJitter = GaussianBlur = RandomApply = RandomGrayscale = RandomResizedCrop = _Same
