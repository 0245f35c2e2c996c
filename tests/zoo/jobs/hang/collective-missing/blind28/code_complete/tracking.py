"""What goes to the terminal and to metrics.jsonl."""
import json
import time

import torch.distributed as dist
from torch.distributed.tensor import DTensor


def scalar(value) -> float:
    if isinstance(value, DTensor):
        value = value.full_tensor()
    return float(value)


class Tracker:
    def __init__(self, path, every=10):
        self.every = every
        self.main = dist.get_rank() == 0
        self.file = open(path, "w") if self.main else None
        self.clock = time.perf_counter()
        self.tokens = 0

    def count(self, tokens):
        self.tokens += tokens

    def __call__(self, step, **values):
        if not self.main or step % self.every:
            return
        row = {"step": step} | {name: scalar(value) for name, value in values.items()}
        now = time.perf_counter()
        row["tokens_per_second"] = round(self.tokens / (now - self.clock))
        self.clock, self.tokens = now, 0
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()
        print(" ".join(f"{key}={value:.4g}" for key, value in row.items()), flush=True)

    def close(self):
        if self.file:
            self.file.close()
