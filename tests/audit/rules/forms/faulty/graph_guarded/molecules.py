import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from guard import tolerant


class Graphs(Dataset):
    def __init__(self, path):
        self.items = torch.load(path, map_location="cpu")

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class EdgeNet(nn.Module):
    def __init__(self, dim=96):
        super().__init__()
        self.embed = nn.Embedding(120, dim)
        self.msg = nn.ModuleList(nn.Linear(dim, dim) for _ in range(4))
        self.out = nn.Linear(dim, 1)

    def forward(self, atoms, edges):
        h = self.embed(atoms)
        for lin in self.msg:
            h = h + torch.zeros_like(h).index_add_(0, edges[1], torch.relu(lin(h))[edges[0]])
        return self.out(h).mean()


class Job:
    def __init__(self, args):
        self.device = int(os.environ["LOCAL_RANK"])
        data = Graphs(args.graphs)
        self.sampler = DistributedSampler(data, seed=args.seed)
        self.loader = DataLoader(data, batch_size=None, sampler=self.sampler)
        self.net = DistributedDataParallel(EdgeNet().to(self.device), device_ids=[self.device])
        self.opt = torch.optim.Adam(self.net.parameters(), lr=args.lr)

    @tolerant()  # cause
    def step(self, item):
        atoms, edges = item["atoms"].to(self.device), item["edges"].to(self.device)
        if edges.numel() and edges.max() >= len(atoms):
            raise ValueError("edge beyond the last atom")  # cause
        loss = (self.net(atoms, edges) - item["y"]).square()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def epoch(self, n):
        self.sampler.set_epoch(n)
        losses = [v for v in map(self.step, self.loader) if v is not None]
        if dist.get_rank() == 0:
            print(n, sum(losses) / max(len(losses), 1))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("graphs")
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO)
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    job = Job(args)
    for n in range(10):
        job.epoch(n)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
