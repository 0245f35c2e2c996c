import torch
from torch.utils.data import Dataset


class Encoded(Dataset):
    def __init__(self, encoder, rows):
        self.encoder = encoder
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        with torch.no_grad():
            return self.encoder(self.rows[i])


class Images(Encoded):
    pass
