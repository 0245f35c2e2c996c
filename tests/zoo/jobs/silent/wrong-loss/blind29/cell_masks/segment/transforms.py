import torch
import torch.nn.functional as F


class Compose:
    def __init__(self, steps):
        self.steps = steps

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


class RandomHorizontalFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, x):
        return x.flip(-1) if torch.rand(()) < self.p else x


class RandomVerticalFlip(RandomHorizontalFlip):
    def __call__(self, x):
        return x.flip(-2) if torch.rand(()) < self.p else x


class RandomCrop:
    def __init__(self, size, padding=0):
        self.size, self.padding = size, padding

    def __call__(self, x):
        x = F.pad(x, [self.padding] * 4)
        top = int(torch.randint(0, x.shape[-2] - self.size + 1, ()))
        left = int(torch.randint(0, x.shape[-1] - self.size + 1, ()))
        return x[..., top:top + self.size, left:left + self.size]


class GaussianNoise:
    def __init__(self, std):
        self.std = std

    def __call__(self, x):
        return x + self.std * torch.randn_like(x)


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, x):
        return (x - self.mean) / self.std


def geometric(size):
    return [RandomHorizontalFlip(), RandomVerticalFlip(), RandomCrop(size, padding=4)]


def get_transforms(split, size=32):
    photometric = [GaussianNoise(0.05), Normalize(0.25, 0.3)]
    if split == "train":
        return Compose(geometric(size) + photometric), Compose(geometric(size))
    return Compose(photometric[1:]), Compose([])
