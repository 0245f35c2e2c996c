"""Tokenised instruction data, cached beside the raw file."""
import json
import os
import zlib

import torch
import torch.distributed as dist
from filelock import FileLock

VOCAB = 512


def tokenize(text):
    return [1] + [2 + zlib.crc32(word.encode()) % (VOCAB - 2) for word in text.split()]


def build(raw, cache):
    rows = []
    with open(raw) as f:
        for line in f:
            record = json.loads(line)
            rows.append(tokenize(record["prompt"] + " " + record["answer"]))
    width = max(map(len, rows))
    torch.save(torch.tensor([row + [0] * (width - len(row)) for row in rows]), cache)


def load(raw):
    cache = raw + ".pt"
    with FileLock(cache + ".lock"):
        if not os.path.exists(cache):
            print(f"tokenising {raw}", flush=True)
            build(raw, cache)
        if dist.is_initialized():
            dist.barrier()
    return torch.load(cache)
