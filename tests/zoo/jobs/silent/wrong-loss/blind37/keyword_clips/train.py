"""Keyword spotting on a folder of mel clips and a csv of labels."""
import argparse
import csv
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, Subset

CLASSES = ["yes", "no", "stop", "go", "left", "right"]


def export_corpus(root, n, seed):
    """Writes what the recording tool exports: one file a clip and one table."""
    rng = np.random.default_rng(seed)
    os.makedirs(os.path.join(root, "mels"), exist_ok=True)
    shapes = rng.normal(size=(len(CLASSES), 20, 24)).astype(np.float32)
    with open(os.path.join(root, "labels.csv"), "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["clip", "word"])
        for i in range(1, n + 1):
            k = int(rng.integers(len(CLASSES)))
            mel = shapes[k] + 1.2 * rng.normal(size=(20, 24))
            np.save(os.path.join(root, "mels", f"clip_{i}.npy"), mel.astype(np.float32))
            out.writerow([i, CLASSES[k]])


class ClipDataset(Dataset):
    def __init__(self, root):
        self.dir = os.path.join(root, "mels")
        self.files = sorted(os.listdir(self.dir))
        with open(os.path.join(root, "labels.csv")) as f:
            self.words = [row["word"] for row in csv.DictReader(f)]
        assert len(self.files) == len(self.words)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        mel = np.load(os.path.join(self.dir, self.files[i]))
        return torch.from_numpy(mel), CLASSES.index(self.words[i])


class KeywordNet(nn.Module):
    def __init__(self, n_mels=20, hidden=48):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(n_mels, hidden, 3, padding=1), nn.ReLU(),
                                  nn.Conv1d(hidden, hidden, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(hidden, len(CLASSES))

    def forward(self, x):
        return self.head(self.conv(x).mean(-1))


def evaluate(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for mel, word in loader:
            hits += (model(mel).argmax(1) == word).sum().item()
            total += len(word)
    return hits / total


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--clips", type=int, default=600)
    p.add_argument("--epochs", type=int, default=14)
    p.add_argument("--lr", type=float, default=2e-3)
    args = p.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(3)
    root = tempfile.mkdtemp()
    export_corpus(root, args.clips, seed=3)
    data = ClipDataset(root)
    perm = torch.randperm(len(data), generator=torch.Generator().manual_seed(0)).tolist()
    cut = int(0.85 * len(perm))
    train = DataLoader(Subset(data, perm[:cut]), batch_size=32, shuffle=True)
    val = DataLoader(Subset(data, perm[cut:]), batch_size=64)
    model = KeywordNet()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for mel, word in train:
            loss = nn.functional.cross_entropy(model(mel), word)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(train):.4f}  val acc {evaluate(model, val):.3f}", flush=True)
    torch.save(model.state_dict(), os.path.join(root, "keyword.pt"))


if __name__ == "__main__":
    main()
