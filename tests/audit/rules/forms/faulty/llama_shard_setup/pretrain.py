import os
import sys

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F

from build import ModelConfig, assemble


class TokenFile:
    def __init__(self, path, length, rank, world):
        self.tokens = np.memmap(path, dtype=np.uint16, mode="r")
        self.length = length
        self.gen = np.random.default_rng([17, rank])

    def batch(self, n):
        starts = self.gen.integers(0, len(self.tokens) - self.length - 1, n)
        rows = np.stack([self.tokens[s:s + self.length + 1].astype(np.int64) for s in starts])
        return torch.from_numpy(rows).cuda()


def main(path, steps=20000):
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    cfg = ModelConfig()
    model, optimizer = assemble(cfg, world)
    feed = TokenFile(path, 1024, rank, world)
    for step in range(steps):
        rows = feed.batch(8)
        logits = model(rows[:, :-1])
        loss = F.cross_entropy(logits.float().flatten(0, 1), rows[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 50 == 0 and rank == 0:
            print(step, loss.item(), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
