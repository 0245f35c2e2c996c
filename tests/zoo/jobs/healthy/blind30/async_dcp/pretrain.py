import argparse
import logging
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, IterableDataset

from ckptlib.manager import AsyncManager

log = logging.getLogger("pretrain")


class Brackets(IterableDataset):
    """Streams of balanced brackets of different lengths; each rank and worker has its own seed."""

    def __init__(self, length, seed, limit=None):
        self.length, self.seed, self.limit = length, seed, limit

    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        g = torch.Generator().manual_seed(self.seed * 101 + (info.id if info else 0))
        count = 0
        while self.limit is None or count < self.limit:
            depth, out = 0, []
            while len(out) <= self.length:
                if depth == 0 or torch.rand((), generator=g) < 0.5:
                    out.append(1 + depth % 4)
                    depth += 1
                else:
                    depth -= 1
                    out.append(5 + depth % 4)
            row = torch.tensor(out)
            yield row[:-1], row[1:]
            count += 1


class Net(nn.Module):
    def __init__(self, vocab=9, dim=48, layers=3):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(
            nn.ModuleDict({"rnn": nn.GRU(dim, dim, batch_first=True), "norm": nn.LayerNorm(dim)}) for _ in range(layers)
        )
        self.out = nn.Linear(dim, vocab)

    def forward(self, x):
        h = self.emb(x)
        for b in self.blocks:
            h = h + b["rnn"](b["norm"](h))[0]
        return self.out(h)


@torch.no_grad()
def validate(model, batches, world):
    """Ranks hold different numbers of batches; all leave the loop in the same round."""
    model.eval()
    total = torch.zeros(2)
    it = iter(batches)
    dummy = batches[0]
    while True:
        batch = next(it, None)
        left = torch.tensor([batch is not None], dtype=torch.int32)
        dist.all_reduce(left, op=dist.ReduceOp.MAX)
        if not left.item():
            break
        x, y = batch if batch is not None else dummy
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        if batch is not None:
            total += torch.tensor([loss.item(), 1.0])
    dist.all_reduce(total)
    model.train()
    return (total[0] / total[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", default="ckpts")
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--save-every", type=int, default=10)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--length", type=int, default=24)
    p.add_argument("--lr", type=float, default=3e-3)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Net()
    for block in model.blocks:
        fully_shard(block["rnn"])
    fully_shard(model)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    manager = AsyncManager(args.out, model, opt)
    first = manager.load()
    train = iter(DataLoader(Brackets(args.length, 1 + rank), batch_size=args.batch_size, num_workers=1))
    val = list(DataLoader(Brackets(args.length, 50 + rank, limit=64 + 32 * rank), batch_size=args.batch_size))

    began = time.time()
    for step in range(first + 1, args.steps + 1):
        x, y = next(train)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            value = validate(model, val, world)
            log.info("step %d train %.3f validation %.3f (%.1fs)", step, loss.item(), value, time.time() - began)
        if step % args.save_every == 0:
            manager.save(step)
    manager.close()
    log.info("finished")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
