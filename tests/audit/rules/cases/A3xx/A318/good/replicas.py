import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class Trainer:
    def __init__(self, net, limit=1.0):
        self.model = DDP(net)
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.limit = limit

    def step(self, x, y):
        self.optimizer.zero_grad()
        (self.model(x) - y).square().mean().backward()
        self.clip()
        self.optimizer.step()

    def clip(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.limit)


def main(net, data):
    dist.init_process_group("nccl")
    trainer = Trainer(net)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 8, sampler=sampler)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for x, y in loader:
            trainer.step(x, y)
    dist.destroy_process_group()
