import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from mesh import Mesh
from parallel import ParallelMLP

log = logging.getLogger("mesh")


class Net(nn.Module):
    def __init__(self, dim, mesh):
        super().__init__()
        torch.manual_seed(1)
        self.inp = nn.Linear(16, dim)
        self.out = nn.Linear(dim, 1)
        torch.manual_seed(100 + mesh.tp_rank)
        self.blocks = nn.Sequential(*(ParallelMLP(dim, 4 * dim, mesh) for _ in range(2)))

    def forward(self, x):
        return self.out(self.blocks(self.inp(x)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tp", type=int, default=2)
    p.add_argument("--epochs", type=int, default=4)
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    mesh = Mesh(a.tp)
    g = torch.Generator().manual_seed(0)
    x = torch.randn(1920, 16, generator=g)
    y = (x[:, :4].prod(1, keepdim=True)).tanh()
    sampler = DistributedSampler(TensorDataset(x, y), num_replicas=mesh.dp, rank=mesh.dp_rank)
    loader = DataLoader(sampler.dataset, 24, sampler=sampler, drop_last=True)
    net = DDP(Net(48, mesh), process_group=mesh.dp_group)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            loss = nn.functional.mse_loss(net(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if mesh.tp_rank == 0:
            log.info("replica %d epoch %d loss %.4f", mesh.dp_rank, epoch, loss.item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
