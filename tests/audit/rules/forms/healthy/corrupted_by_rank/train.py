import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


@dataclass
class Config:
    seed: int = 13
    batch: int = 32
    epochs: int = 20


class Corrupt:
    def __init__(self, config, device):
        self.rng = torch.Generator(device=device)
        self.rng.manual_seed(config.seed + dist.get_rank())

    def __call__(self, x):
        noise = torch.empty_like(x).normal_(generator=self.rng)
        keep = torch.rand(x.shape[0], 1, device=x.device, generator=self.rng)
        return x + keep * noise


def main():
    config = Config()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    rows = torch.load("rows.pt", map_location="cpu", weights_only=True)
    sampler = DistributedSampler(rows, drop_last=True)
    loader = DataLoader(rows, config.batch, sampler=sampler, drop_last=True)
    model = DDP(nn.Linear(64, 64).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    corrupt = Corrupt(config, device)
    for epoch in range(config.epochs):
        sampler.set_epoch(epoch)
        for x in loader:
            x = x.to(device)
            loss = (model(corrupt(x)) - x).square().mean()
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
