"""Character model with gradient accumulation."""
import contextlib
import math
import os
from argparse import ArgumentParser

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

TEXT = ("It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want "
        "of a wife. However little known the feelings or views of such a man may be on his first entering a "
        "neighbourhood, this truth is so well fixed in the minds of the surrounding families. ") * 40
CHARS = sorted(set(TEXT))


class CharGRU(nn.Module):
    def __init__(self, vocab, dim=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, num_layers=2, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, x, y):
        hidden, _ = self.rnn(self.embed(x))
        return nn.functional.cross_entropy(self.head(hidden).flatten(0, 1), y.flatten())


class Sampler:
    def __init__(self, ids, batch, block, seed):
        self.ids, self.batch, self.block = ids, batch, block
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self):
        at = torch.randint(len(self.ids) - self.block - 1, (self.batch,), generator=self.generator)
        rows = torch.stack([self.ids[i:i + self.block + 1] for i in at])
        return rows[:, :-1], rows[:, 1:]


def main():
    parser = ArgumentParser()
    parser.add_argument("--micro-steps", type=int, default=240)
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--batch", type=int, default=6)
    parser.add_argument("--block", type=int, default=32)
    parser.add_argument("--lr", type=float, default=4e-3)
    args = parser.parse_args()

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(99)
    index = {c: i for i, c in enumerate(CHARS)}
    ids = torch.tensor([index[c] for c in TEXT])
    get_batch = Sampler(ids, args.batch, args.block, seed=4000 + rank)
    model = DDP(CharGRU(len(CHARS)))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    updates = args.micro_steps // args.accumulate
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda u: 0.55 + 0.45 * math.cos(math.pi * min(u / updates, 1.0)))

    running = 0.0
    for micro in range(args.micro_steps):
        x, y = get_batch()
        context = model.no_sync() if micro % args.accumulate != 0 else contextlib.nullcontext()
        with context:
            loss = model(x, y) / args.accumulate
            loss.backward()
        running += loss.item()
        if (micro + 1) % args.accumulate == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
            if rank == 0 and (micro + 1) % (args.accumulate * 10) == 0:
                print(f"update {(micro + 1) // args.accumulate}/{updates} loss {running:.3f}", flush=True)
            running = 0.0
    if rank == 0:
        os.makedirs("out", exist_ok=True)
        torch.save(model.module.state_dict(), "out/char.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
