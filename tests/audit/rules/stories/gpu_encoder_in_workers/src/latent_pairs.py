import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class GridEncoder(nn.Module):
    def __init__(self, dim=128):
        super().__init__()
        self.stem = nn.Conv1d(3, dim, 3, padding=1)
        self.pool = nn.AdaptiveAvgPool1d(64)

    def forward(self, x):
        return self.pool(self.stem(x)).transpose(1, 2)


class GridLatentPairDataset(Dataset):
    def __init__(self, fields, encoder, device):
        self.fields = fields
        self.device = device
        self.encoder = encoder.to(device).eval()
        n = fields.shape[-1]
        self.coords = torch.linspace(0, 1, n, device=device).expand(2, n)

    def __len__(self):
        return len(self.fields)

    @torch.no_grad()
    def __getitem__(self, i):
        u = self.fields[i].to(self.device)
        x = torch.stack([torch.cat([f[None], self.coords]) for f in u])
        z = self.encoder(x)
        return z[:-1], z[1:]


def build_latent_pair_loader(fields, device, batch_size):
    ds = GridLatentPairDataset(fields, GridEncoder(), device)
    sampler = DistributedSampler(ds, shuffle=True)
    return DataLoader(ds, batch_size=batch_size, sampler=sampler, num_workers=8, persistent_workers=True)
