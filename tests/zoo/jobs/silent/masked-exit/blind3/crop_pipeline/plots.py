import csv

import torch
from torch.utils.data import Dataset

from stages import CROPS


class PlotDataset(Dataset):
    def __init__(self, path):
        with open(path, newline="") as handle:
            self.rows = list(csv.DictReader(handle))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        features = torch.tensor([float(row[k]) for k in ("ndvi", "rain", "altitude")])
        return features, CROPS.index(row["crop"])
