import torch
from torch.utils.data import DataLoader, Dataset


class Encoded(Dataset):
    def __init__(self, rows, encoder):
        encoder = encoder.cuda()
        self.rows = [encoder(row).cpu() for row in rows]

    def __getitem__(self, i):
        return self.rows[i]


class OnCpu(Dataset):
    def __init__(self, encoder):
        self.encoder = encoder.to("cpu")

    def __getitem__(self, i):
        return self.encoder(torch.ones(4))


class InMain(Dataset):
    def __init__(self, encoder):
        self.encoder = encoder.cuda()

    def __getitem__(self, i):
        return self.encoder(torch.ones(4))


def build(rows, encoder):
    yield DataLoader(Encoded(rows, encoder), num_workers=4)
    yield DataLoader(OnCpu(encoder), num_workers=4)
    yield DataLoader(InMain(encoder))
