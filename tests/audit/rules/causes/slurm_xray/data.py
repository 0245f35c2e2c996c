import csv
import os

import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler
from torchvision.io import ImageReadMode, read_image
from torchvision.transforms.functional import resize


class ChestXray(Dataset):
    def __init__(self, root, table, findings):
        with open(os.path.join(root, table)) as f:
            self.rows = list(csv.DictReader(f))
        self.root, self.findings = root, findings

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        image = read_image(os.path.join(self.root, row["path"]), ImageReadMode.RGB)
        image = resize(image, [320, 320], antialias=True).float() / 255
        return image, torch.tensor([float(row[f]) for f in self.findings])


def train_loader(cfg, env):
    data = ChestXray(cfg["root"], "train.csv", cfg["findings"])
    sampler = DistributedSampler(data, num_replicas=env.world, rank=env.local, shuffle=True, seed=cfg["seed"])  # cause
    return DataLoader(data, cfg["batch"], sampler=sampler, num_workers=cfg["workers"], pin_memory=True, drop_last=True)
