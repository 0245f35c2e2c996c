"""Transforms of the program's own: they draw once for both, have generators that are seeded alike, or change colours."""

import random

import torch
from torch.utils.data import Dataset


class Flip:
    """Draws by itself only where nobody has told it."""

    def __init__(self):
        self.state = None

    def draw(self):
        self.state = random.random() < 0.5

    def __call__(self, x):
        return x.flip(-1) if self.state else x


class Crop:
    def __init__(self, size, seed):
        self.size, self.generator = size, torch.Generator().manual_seed(seed)

    def __call__(self, x):
        top = int(torch.randint(0, x.shape[-2] - self.size, (), generator=self.generator))
        return x[..., top : top + self.size, :]


class Noise:
    def __call__(self, x):
        return x + 0.1 * torch.rand(()) * torch.randn_like(x)


class Kept:
    def __init__(self):
        self.angle = None

    def __call__(self, x):
        if self.angle is None:
            self.angle = random.randint(0, 3)
        return torch.rot90(x, self.angle, (-2, -1))


class Scenes(Dataset):
    def __init__(self, images, masks):
        self.images, self.masks = images, masks
        self.flip, self.noise, self.kept = Flip(), Noise(), Kept()
        self.crop_image, self.crop_mask = Crop(8, seed=1), Crop(8, seed=1)

    def __getitem__(self, index):
        self.flip.draw()
        image, mask = self.flip(self.images[index]), self.flip(self.masks[index])
        image, mask = self.crop_image(image), self.crop_mask(mask)
        image, mask = self.kept(image), self.kept(mask)
        return self.noise(image), self.noise(mask)
