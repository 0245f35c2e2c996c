import csv
import os

import torch
from torch.utils.data import TensorDataset


def load_ratings(data_dir, rank):
    """Each rank reads the part of the ratings that was split for it."""
    rows = []
    with open(os.path.join(data_dir, f"ratings_{rank}.csv"), newline="") as f:
        for row in csv.DictReader(f):
            rows.append((int(row["user"]), int(row["item"]), float(row["rating"])))
    users, items, ratings = zip(*rows)
    return TensorDataset(torch.tensor(users), torch.tensor(items), torch.tensor(ratings))
