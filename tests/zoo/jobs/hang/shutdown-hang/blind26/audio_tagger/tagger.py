import argparse
import itertools
import json
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn

from prefetch import Prefetcher


class Tagger(nn.Module):
    def __init__(self, bins=33, classes=4):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(bins, 24, 3, padding=1), nn.ReLU(), nn.Conv1d(24, 24, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(24, classes)

    def forward(self, spec):
        return self.head(self.conv(spec).mean(-1))


def tones(batch, seed, batches=400, length=512):
    gen = torch.Generator().manual_seed(seed)
    t = torch.arange(length) / length
    for _ in range(batches):
        label = torch.randint(0, 4, (batch,), generator=gen)
        freq = (label + 1).float()[:, None] * 16
        yield torch.sin(6.2832 * freq * t) + 0.3 * torch.randn(batch, length, generator=gen), label


class Loop:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rank = int(os.environ["RANK"])
        self.model = nn.parallel.DistributedDataParallel(Tagger())
        self.optimizer = torch.optim.RMSprop(self.model.parameters(), lr=cfg.lr)
        self.history = []

    def train(self, batches):
        self.model.train()
        for step, (spec, label) in enumerate(batches):
            loss = nn.functional.cross_entropy(self.model(spec), label)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if step % self.cfg.log_every == 0:
                mean = loss.detach()
                dist.all_reduce(mean, op=dist.ReduceOp.SUM)
                self.history.append({"step": step, "loss": mean.item() / dist.get_world_size()})
                if self.rank == 0:
                    print(self.history[-1], flush=True)

    def finish(self):
        if self.rank == 0:
            torch.save(self.model.module.state_dict(), "tagger.pt")
            with open("history.json", "w") as f:
                json.dump(self.history, f)
        dist.barrier()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--max-steps", type=int, default=100)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--log-every", type=int, default=20)
    cfg = ap.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    loop = Loop(cfg)
    start = time.time()
    batches = Prefetcher(tones(cfg.batch, seed=loop.rank))
    loop.train(itertools.islice(batches, cfg.max_steps))
    loop.finish()
    dist.destroy_process_group()
    if loop.rank == 0:
        print(f"finished {cfg.max_steps} steps in {time.time() - start:.1f}s", flush=True)


if __name__ == "__main__":
    main()
