from pathlib import Path

import torch
from torch.utils.data import TensorDataset

from softlock import SoftLock

ROOT = Path(__file__).parent / "corpus"


def tokenize(text):
    vocab = {w: i for i, w in enumerate(sorted(set(text.split())))}
    rows = [[vocab[w] for w in line.split()] for line in text.splitlines()]
    return torch.tensor(rows), len(vocab)


def build_or_load():
    cached = ROOT / "cache" / "tokens.pt"
    if not cached.exists():
        with SoftLock(str(cached) + ".lock"):
            if not cached.exists():
                tokens, size = tokenize((ROOT / "text.txt").read_text())
                torch.save({"tokens": tokens, "size": size}, cached)
    blob = torch.load(cached)
    return TensorDataset(blob["tokens"]), blob["size"]
