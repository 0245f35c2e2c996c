import contextlib

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class TransformerWrapper:
    def __init__(self, config):
        torch.manual_seed(0)
        self.config = config
        self.model = DistributedDataParallel(nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2)))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.learning_rate)

    def train(self, loader, sampler):
        accumulate = self.config.gradient_accumulation_steps
        total, batches = 0.0, 0
        for epoch in range(self.config.num_train_epochs):
            sampler.set_epoch(epoch)
            self.optimizer.zero_grad()
            for step, (x, y) in enumerate(loader):
                update = (step + 1) % accumulate == 0
                with contextlib.nullcontext() if update else self.model.no_sync():
                    loss = F.cross_entropy(self.model(x), y)
                    (loss / accumulate).backward()
                total, batches = total + loss.item(), batches + 1
                if update:
                    nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                    self.optimizer.step()
                    self.optimizer.zero_grad()
        return {"batches": batches, "average loss": round(total / batches, 4)}
