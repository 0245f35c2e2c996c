import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from ckpt import FullCheckpointer


class Mixer(nn.Module):
    def __init__(self, width, depth, n_out):
        super().__init__()
        self.inp = nn.Linear(64, width)
        self.layers = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU()) for _ in range(depth))
        self.out = nn.Linear(width, n_out)

    def forward(self, x):
        x = self.inp(x)
        for layer in self.layers:
            x = x + layer(x)
        return self.out(x)


def make_model(width, depth):
    torch.manual_seed(11)
    model = Mixer(width, depth, 1).cuda()
    for layer in model.layers:
        fully_shard(layer)
    return fully_shard(model)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--table", required=True)
    ap.add_argument("--ckpt-dir", default="ckpt")
    ap.add_argument("--save-every", type=int, default=1000)
    ap.add_argument("--epochs", type=int, default=5)
    args = ap.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model = make_model(2048, 24)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    saver = FullCheckpointer(args.ckpt_dir)
    blob = torch.load(args.table, map_location="cpu")
    ds = TensorDataset(blob["x"], blob["y"])
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, batch_size=128, sampler=sampler, drop_last=True)
    step = 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.smooth_l1_loss(model(x.cuda()).squeeze(-1), y.cuda())
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % args.save_every == 0:
                saver.save(model, step)
    saver.save(model, step)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
