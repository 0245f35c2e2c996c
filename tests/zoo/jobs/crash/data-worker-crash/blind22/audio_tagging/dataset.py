import csv
import importlib

import torch
from torch.utils.data import Dataset


class ClipDataset(Dataset):
    """Clips of a manifest; a decoder is loaded when the first clip of its kind turns up."""

    def __init__(self, manifest):
        with open(manifest, newline="") as f:
            self.rows = list(csv.DictReader(f))
        self.classes = sorted({row["label"] for row in self.rows})

    @property
    def num_classes(self):
        return len(self.classes)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        codec = importlib.import_module("codecs_audio." + row["codec"])
        wave = codec.decode(row["clip"], int(row["seconds"]))
        return wave, self.classes.index(row["label"])


def collate(items):
    waves, labels = zip(*items)
    return torch.stack(waves), torch.tensor(labels)
