import os
import time
from contextlib import contextmanager

import torch
import torch.distributed as dist


@contextmanager
def main_process_first(desc):
    first = dist.get_rank() == 0
    if not first:
        dist.barrier()
    yield
    if first:
        print("finished:", desc, flush=True)
        dist.barrier()


def tokenize(text):
    return [(ord(c) * 7) % 101 for c in text][:16]


def build_dataset(args, folder):
    path = os.path.join(folder, args.cache_file)
    if os.path.exists(path):
        return torch.load(path)
    rows = []
    for number in range(args.max_samples):
        rows.append(tokenize(f"sample number {number:06d} of the corpus"))
        if number % 50 == 0:
            time.sleep(50 / args.preprocessing_rate)
    data = torch.tensor(rows)
    torch.save(data, path)
    return data
