import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from graphs import make_loader


class Net(nn.Module):
    def __init__(self, kinds=100, dim=128, rounds=4):
        super().__init__()
        self.emb = nn.Embedding(kinds, dim)
        self.msg = nn.ModuleList(nn.Sequential(nn.Linear(2 * dim, dim), nn.SiLU(), nn.Linear(dim, dim)) for _ in range(rounds))
        self.out = nn.Linear(dim, 1)

    def forward(self, atoms, bonds, owner, n):
        h = self.emb(atoms)
        for f in self.msg:
            m = f(torch.cat([h[bonds[0]], h[bonds[1]]], -1))
            h = h + torch.zeros_like(h).index_add(0, bonds[1], m)
        e = self.out(h).squeeze(-1)
        return torch.zeros(n, device=e.device).index_add(0, owner, e)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", default="molecules.pt")
    ap.add_argument("--limit", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=100)
    a = ap.parse_args()
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    torch.manual_seed(33)
    net = DistributedDataParallel(Net().cuda(gpu), device_ids=[gpu])
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    loader, order = make_loader(a.data, 64, a.limit)
    for epoch in range(a.epochs):
        order.set_epoch(epoch)
        for atoms, bonds, owner, energy in loader:
            pred = net(atoms.cuda(gpu), bonds.cuda(gpu), owner.cuda(gpu), energy.numel())
            loss = nn.functional.huber_loss(pred, energy.cuda(gpu).flatten())
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), "mol.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
