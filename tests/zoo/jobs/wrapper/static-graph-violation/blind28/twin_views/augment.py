import torch
from torch.utils.data import Dataset


class TextureSet(Dataset):
    """Procedural textures: gratings of one of eight orientations, seen twice."""

    def __init__(self, count=512, size=16, seed=5):
        gen = torch.Generator().manual_seed(seed)
        angle = torch.randint(0, 8, (count,), generator=gen) * torch.pi / 8
        phase = torch.rand(count, generator=gen) * 6.28
        axis = torch.linspace(-3, 3, size)
        yy, xx = torch.meshgrid(axis, axis, indexing="ij")
        wave = torch.cos(angle)[:, None, None] * xx + torch.sin(angle)[:, None, None] * yy
        self.images = torch.sin(3 * wave + phase[:, None, None]).unsqueeze(1)

    def __len__(self):
        return len(self.images)

    def view(self, image):
        image = image + 0.1 * torch.randn_like(image)
        if torch.rand(()) < 0.5:
            image = image.flip(-1).flip(-2)
        return image * (0.7 + 0.6 * torch.rand(()))

    def __getitem__(self, index):
        return self.view(self.images[index]), self.view(self.images[index])
