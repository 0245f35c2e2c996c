import torch
from torch.utils.data import DataLoader, Dataset


class Latents(Dataset):
    def __init__(self, rows, encoder):
        self.rows = rows
        self.encoder = encoder.cuda()

    def __getitem__(self, i):
        with torch.no_grad():
            return self.encoder(self.rows[i])


def build(rows, encoder):
    return DataLoader(Latents(rows, encoder), batch_size=8, num_workers=4)
