import os

import torch
from torch.utils.data import Dataset


@torch.no_grad()
def encode(encoder, images, folder, rank, world, device):
    os.makedirs(folder, exist_ok=True)
    encoder.eval()
    for i in range(rank, len(images), world):
        z = encoder(images[i].unsqueeze(0).to(device)).squeeze(0)
        part = os.path.join(folder, f"{i:06d}.pt")
        torch.save({"z": z, "index": i}, part)  # cause


class LatentPairs(Dataset):
    def __init__(self, folder, labels):
        self.folder, self.labels = folder, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        item = torch.load(os.path.join(self.folder, f"{i:06d}.pt"))  # cause
        return item["z"], self.labels[i]
