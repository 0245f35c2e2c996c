import os

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from .image_io import read_pnm


class IndustrialDataset(Dataset):

    def __init__(self, root, transform=None):
        self.root, self.transform = root, transform
        self.files = sorted(n for n in os.listdir(root) if n.endswith((".pgm", ".ppm")))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        image = torch.from_numpy(read_pnm(os.path.join(self.root, self.files[i])).copy())
        image = image.permute(2, 0, 1).float() / 255
        if self.transform is not None:
            image = self.transform(image)
        return {"data": image, "name": self.files[i]}


def collate(samples):
    return {"data": torch.stack([s["data"] for s in samples]), "name": [s["name"] for s in samples]}


def get_dataloader(root, batch_size, workers, transform=None):
    dataset = IndustrialDataset(root, transform)
    sampler = DistributedSampler(dataset, shuffle=False)
    return DataLoader(dataset, batch_size, sampler=sampler, num_workers=workers, collate_fn=collate)
