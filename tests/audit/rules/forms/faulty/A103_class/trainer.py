import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Trainer:
    def __init__(self, model):
        self.model = model
        self.configure_optimizer()
        self.wrap()

    def configure_optimizer(self):
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)  # cause

    def wrap(self):
        self.model = FSDP(self.model.cuda())

    def step(self, x):
        self.optimizer.zero_grad()
        self.model(x).sum().backward()
        self.optimizer.step()
