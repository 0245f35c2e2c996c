import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from hooks import NoHook, ProjectorHook
from reid import ReId


class Crops(Dataset):
    def __init__(self, n, ids):
        self.n, self.ids = n, ids

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        y = i % self.ids
        return torch.randn(3, 64, 32, generator=g) + 0.1 * y, y


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--crops", type=int, default=2560)
    p.add_argument("--ids", type=int, default=20)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--project-from", type=int, default=1)
    a = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    ds = Crops(a.crops, a.ids)
    sampler = DistributedSampler(ds)
    loader = DataLoader(ds, a.batch, sampler=sampler, drop_last=True)
    model = DDP(ReId(a.ids))
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    hook = ProjectorHook(a.project_from, 512) if rank == 0 else NoHook()
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            emb, logits = model(x)
            loss = nn.functional.cross_entropy(logits, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            hook.after_step(epoch, x, emb)
        hook.after_epoch(epoch)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
