import torch
from torch.utils.data import DataLoader, Dataset


class Given(Dataset):
    def __init__(self, rows, encoder):
        self.rows = rows
        self.encoder = encoder.eval()

    @torch.no_grad()
    def __getitem__(self, i):
        return self.encoder(self.rows[i]).cpu()


def build(rows, rank):
    device = torch.device("cuda", rank)
    encoder = torch.nn.Linear(4, 4).to(device)
    rows = Given(rows, encoder)
    return DataLoader(rows, num_workers=8)
