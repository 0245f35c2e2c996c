import argparse
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from draft import DraftModel, NoValidAnchors


@dataclass
class Config:
    steps: int = 24
    batch: int = 4
    lr: float = 1e-3


class ChatSamples:
    """Conversations of a rank; some rows of the crawl hold greetings only."""

    def __init__(self, rank, cfg):
        self.rank, self.cfg = rank, cfg
        self.short = {(1, 9)}

    def __iter__(self):
        for i in range(self.cfg.steps):
            g = torch.Generator().manual_seed(1000 * self.rank + i)
            top = 4 if (self.rank, i) in self.short else 16
            lengths = torch.randint(2 if top == 4 else 8, top, (self.cfg.batch,), generator=g)
            yield torch.randint(0, 64, (self.cfg.batch, 16), generator=g), lengths


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    cfg = Config(steps=parser.parse_args().steps)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(DraftModel())
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    skipped = 0
    for i, (tokens, lengths) in enumerate(ChatSamples(rank, cfg)):
        try:
            loss = model(tokens, lengths)
        except NoValidAnchors as e:
            skipped += 1
            print(f"[{rank}] batch {i} skipped: {e}", flush=True)
            continue
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if rank == 0 and i % 6 == 0:
            print(f"step {i} loss {loss.item():.3f}", flush=True)
    totals = [None] * dist.get_world_size()
    dist.all_gather_object(totals, {"rank": rank, "skipped": skipped})
    if rank == 0:
        print("skipped", totals)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
