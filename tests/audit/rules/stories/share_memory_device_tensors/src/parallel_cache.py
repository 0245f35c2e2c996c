from pathlib import Path

import torch
from torch.utils.data import Dataset


class PreloadedCacheDataset(Dataset):
    """Load every latent once, then share it with all loader workers."""

    def __init__(self, cache_dir, device, num_samples):
        self.latents = []
        for i in range(num_samples):
            blob = torch.load(Path(cache_dir) / f"sample_{i:05d}.pt", map_location=device, weights_only=True)
            latent = blob["latent"].to(device)
            latent.share_memory_()
            self.latents.append(latent)

    def __len__(self):
        return len(self.latents)

    def __getitem__(self, idx):
        z = self.latents[idx].float()
        return z[:-1], z[1:]
