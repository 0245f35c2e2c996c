import csv
import os

import numpy as np
from torch.utils.data import Dataset


def export(root, mels, words):
    with open(os.path.join(root, "labels.csv"), "w") as f:
        out = csv.writer(f)
        for i, (mel, word) in enumerate(zip(mels, words)):
            np.save(os.path.join(root, "mels", f"clip_{i}.npy"), mel)
            out.writerow([i, word])


class ByName(Dataset):
    def __init__(self, root):
        self.dir = os.path.join(root, "mels")
        self.files = sorted(os.listdir(self.dir))
        with open(os.path.join(root, "labels.csv")) as f:
            self.words = {f"clip_{row['clip']}.npy": row["word"] for row in csv.DictReader(f)}

    def __getitem__(self, i):
        return np.load(os.path.join(self.dir, self.files[i])), self.words[self.files[i]]


class ByNumber(Dataset):
    def __init__(self, root):
        self.dir = os.path.join(root, "mels")
        self.files = sorted(os.listdir(self.dir), key=lambda name: int(name.split("_")[1][:-4]))
        with open(os.path.join(root, "labels.csv")) as f:
            self.words = [row["word"] for row in csv.DictReader(f)]

    def __getitem__(self, i):
        return np.load(os.path.join(self.dir, self.files[i])), self.words[i]
