import json

import torch
from torch.utils.data import Dataset

HOP = 0.01


class Manifest(Dataset):
    def __init__(self, path, rank, world):
        with open(path) as lines:
            self.items = [json.loads(line) for line in lines][rank::world]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        item = self.items[index]
        frames = int((item["end"] - item["start"]) / HOP)
        gen = torch.Generator().manual_seed(item["id"])
        return {"samples": torch.randn(min(frames, 400), generator=gen), "frames": frames, "level": item["level"]}


def pad_collate(items):
    width = max(item["frames"] for item in items)
    batch = torch.zeros(len(items), width)
    for row, item in zip(batch, items):
        row[: len(item["samples"])] = item["samples"]
    return batch, torch.tensor([item["level"] for item in items])
