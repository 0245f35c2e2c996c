import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from stream import make_loader


class ByteLSTM(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.embed = nn.Embedding(256, width)
        self.core = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.out = nn.Linear(width, 256)

    def forward(self, ids):
        hidden, _ = self.core(self.embed(ids))
        return self.out(hidden)


def endless(loader):
    while True:
        yield from loader


def run(args):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    net = DDP(ByteLSTM().cuda(local), device_ids=[local])
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    feed = endless(make_loader(args.shards, args.batch))
    for step in range(args.steps):
        ids, nxt = next(feed)
        logits = net(ids.cuda(local, non_blocking=True))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), nxt.cuda(local, non_blocking=True).flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 200 == 0 and dist.get_rank() == 0:
            print(step, float(loss))
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("shards")
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--steps", type=int, default=40000)
    p.add_argument("--lr", type=float, default=1e-3)
    run(p.parse_args())
