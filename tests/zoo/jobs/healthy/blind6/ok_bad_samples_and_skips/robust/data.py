import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

BROKEN = {7, 8, 40, 63}


class DecodeError(OSError):
    pass


class Images(Dataset):
    """Falls back to the next image where one cannot be decoded."""

    def __init__(self, size=96):
        self.x = torch.randn(size, 10, generator=torch.Generator().manual_seed(2))
        self.x[17] = float("inf")  # an image whose pixels were divided by zero

    def __len__(self):
        return len(self.x)

    def decode(self, index):
        if index in BROKEN:
            raise DecodeError(f"image {index}: premature end of data")
        return self.x[index]

    def __getitem__(self, index):
        for attempt in range(len(self)):
            try:
                return self.decode((index + attempt) % len(self))
            except DecodeError as error:
                print(f"skipping: {error}", flush=True)
        raise RuntimeError("not one image can be decoded")


def make_loader(rank, world):
    data = Images()
    sampler = DistributedSampler(data, world, rank, seed=1)
    return DataLoader(data, batch_size=8, sampler=sampler, num_workers=1), sampler
