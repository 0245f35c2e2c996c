import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from keeper import Keeper


class Mixer(nn.Module):
    def __init__(self, vocab, dim, depth):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 4 * dim), nn.SiLU(), nn.Linear(4 * dim, dim)) for _ in range(depth)
        )
        self.mix = nn.Conv1d(dim, dim, 4)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.emb(ids)
        for f in self.layers:
            x = x + f(x)
        return self.head(self.mix(F.pad(x.transpose(1, 2), (3, 0))).transpose(1, 2))


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--ids", default="ids.pt")
    p.add_argument("--vocab", type=int, default=8192)
    p.add_argument("--dim", type=int, default=768)
    p.add_argument("--depth", type=int, default=8)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--out", default="ckpt")
    return p.parse_args()


def main():
    a = parse()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    torch.manual_seed(21)
    model = Mixer(a.vocab, a.dim, a.depth).cuda()
    for f in model.layers:
        fully_shard(f)
    fully_shard(model)
    opt = torch.optim.AdamW(model.parameters(), lr=5e-4)
    ds = TensorDataset(torch.load(a.ids, map_location="cpu", weights_only=True))
    order = DistributedSampler(ds)
    loader = DataLoader(ds, 16, sampler=order, pin_memory=True)
    keeper = Keeper(a.out)
    step = 0
    for epoch in range(a.epochs):
        order.set_epoch(epoch)
        for (ids,) in loader:
            ids = ids.cuda(non_blocking=True)
            loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if keeper.due(step):
                keeper.save(model, step, {"epoch": epoch, "loss": loss.item()})
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
