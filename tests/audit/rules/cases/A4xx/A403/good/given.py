import torch
from torch.utils.data import DataLoader, Dataset


class Given(Dataset):
    def __init__(self, rows, encoder):
        self.rows = rows
        self.encoder = encoder.eval()

    @torch.no_grad()
    def __getitem__(self, i):
        return self.encoder(self.rows[i])


def build(rows):
    encoder = torch.nn.Linear(4, 4)
    rows = Given(rows, encoder)
    return DataLoader(rows, num_workers=8)
