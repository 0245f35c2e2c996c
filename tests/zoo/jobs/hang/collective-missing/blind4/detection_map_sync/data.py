import torch
from torch.utils.data import Dataset, Sampler


class Scenes(Dataset):
    """Images of one bright box; the truth is where it lies."""

    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.corners = torch.randint(0, 8, (count, 2), generator=generator)

    def __len__(self):
        return len(self.corners)

    def __getitem__(self, index):
        x, y = self.corners[index].tolist()
        image = torch.zeros(1, 16, 16)
        image[0, y : y + 8, x : x + 8] = 1.0
        return image, {"boxes": torch.tensor([[x, y, x + 8.0, y + 8.0]])}


class InferenceSampler(Sampler):
    """Each image exactly once, over all ranks."""

    def __init__(self, size, rank, world):
        self.indices = list(range(size))[rank::world]

    def __iter__(self):
        return iter(self.indices)

    def __len__(self):
        return len(self.indices)


def collate(samples):
    return torch.stack([image for image, _ in samples]), [target for _, target in samples]
