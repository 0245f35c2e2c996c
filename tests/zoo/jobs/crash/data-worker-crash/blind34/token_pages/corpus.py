import json
import os

import numpy as np
import torch
from torch.utils.data import Dataset

DTYPE = np.uint16


def write_cache(folder, documents):
    """Packs the documents of this phase into one flat file of tokens."""
    os.makedirs(folder, exist_ok=True)
    total = sum(len(d) for d in documents)
    path = os.path.join(folder, "tokens.bin")
    out = np.memmap(path, dtype=DTYPE, mode="w+", shape=(total,))
    pos = 0
    for d in documents:
        out[pos:pos + len(d)] = d
        pos += len(d)
    out.flush()
    with open(os.path.join(folder, "meta.json"), "w") as f:
        json.dump({"tokens": total}, f)
    return path


class PackedTokens(Dataset):
    def __init__(self, folder, seq_len):
        self.path = os.path.join(folder, "tokens.bin")
        self.seq_len = seq_len
        with open(os.path.join(folder, "meta.json")) as f:
            self.count = json.load(f)["tokens"] // (seq_len + 1)
        self.tokens = None

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if self.tokens is None:
            self.tokens = np.memmap(self.path, dtype=DTYPE, mode="r")
        start = i * (self.seq_len + 1)
        chunk = torch.from_numpy(self.tokens[start:start + self.seq_len + 1].astype(np.int64))
        return chunk[:-1], chunk[1:]


def synth_documents(n, vocab, seed, mean_len):
    rng = np.random.default_rng(seed)
    docs = []
    for _ in range(n):
        k = int(rng.integers(mean_len // 2, mean_len * 2))
        start, stride = rng.integers(0, vocab, 2)
        docs.append(((start + stride * np.arange(k)) % vocab).astype(DTYPE))
    return docs
