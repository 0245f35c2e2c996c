import csv
import os

import numpy as np
from torch.utils.data import Dataset


def export(root, mels):
    for i, mel in enumerate(mels):
        np.save(os.path.join(root, "mels", f"clip_{i:05d}.npy"), mel)


class Clips(Dataset):
    def __init__(self, root):
        self.dir = os.path.join(root, "mels")
        self.files = sorted(os.listdir(self.dir))
        with open(os.path.join(root, "labels.csv")) as f:
            self.words = [row["word"] for row in csv.DictReader(f)]

    def __getitem__(self, i):
        return np.load(os.path.join(self.dir, self.files[i])), self.words[i]
