import contextlib
from dataclasses import dataclass

import torch


@dataclass
class TrainConfig:
    epochs: int = 6
    batch_size: int = 8
    gradient_accumulation_steps: int = 16
    lr: float = 5e-3


class Engine:
    def __init__(self, model, config):
        self.model, self.config = model, config
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr)
        self.global_step = 0

    def epoch(self, loader):
        total = 0.0
        self.optimizer.zero_grad()
        for step, (x, y) in enumerate(loader):
            boundary = (step + 1) % self.config.gradient_accumulation_steps == 0
            with contextlib.nullcontext() if boundary else self.model.no_sync():
                loss = torch.nn.functional.cross_entropy(self.model(x), y)
                (loss / self.config.gradient_accumulation_steps).backward()
            if boundary:
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.global_step += 1
            total += loss.item()
        return total / len(loader)
