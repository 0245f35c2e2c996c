"""Made-up pictures under the names of well-known data sets."""

import torch
from torch.utils.data import Dataset

TRAIN, TEST = 256, 128


class MNIST(Dataset):
    """Grey pictures of 28 by 28; the label is the bright row."""

    shape = (28, 28)
    mirrors: list = []  # noqa: RUF012 - as the original has it

    def __init__(self, root=None, train=True, transform=None, target_transform=None, download=False):
        chance = torch.Generator().manual_seed(int(train))
        count = TRAIN if train else TEST
        self.transform = transform
        self.targets = torch.randint(0, 10, (count,), generator=chance)
        self.data = torch.randint(0, 200, (count, *self.shape), generator=chance, dtype=torch.uint8)
        self.data[torch.arange(count), self.targets] = 255

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        picture = self.data[index].numpy()
        return (picture if self.transform is None else self.transform(picture)), int(self.targets[index])


class CIFAR10(MNIST):
    """Pictures of three colours, 32 by 32."""

    shape = (32, 32, 3)
