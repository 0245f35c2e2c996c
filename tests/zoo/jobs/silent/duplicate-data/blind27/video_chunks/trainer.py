import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

from pipeline import build_dataloader, cycle


class SpeedNet(nn.Module):
    def __init__(self, frames, side):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(frames, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                  nn.Conv2d(24, 32, 3, padding=1), nn.ReLU())
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(32 * (side // 2) ** 2, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, clip):
        return self.fc(self.conv(clip))


class Trainer:
    def __init__(self, config):
        self.config = config
        dist.init_process_group("gloo")
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.is_main = self.rank == 0
        if config.seed == 0:
            seed = torch.randint(1, 10_000_000, (1,))
            dist.broadcast(seed, 0)
            config.seed = int(seed)
        self.set_seed(config.seed + self.rank)
        self.model = DDP(SpeedNet(config.frames, config.side))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.lr, betas=(0.9, 0.99))
        loader = build_dataloader(config, self.rank, self.world, seed=int(time.time()) % 10_000 * self.rank)
        self.batches = cycle(loader)
        self.per_epoch = len(loader)
        self.step = 0

    @staticmethod
    def set_seed(seed):
        import random
        import numpy as np
        random.seed(seed), np.random.seed(seed % 2 ** 32), torch.manual_seed(seed)

    def train_one_step(self):
        batch = next(self.batches)
        loss = nn.functional.mse_loss(self.model(batch["clip"]), batch["speed"])
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.config.max_grad_norm)
        self.optimizer.step()
        return {"loss": loss.detach(), "grad_norm": norm.detach()}

    def save(self):
        torch.save({"generator": self.model.module.state_dict(), "step": self.step}, f"checkpoint_{self.step:06d}.pt")

    def train(self):
        while self.step < self.config.max_steps:
            stats = self.train_one_step()
            self.step += 1
            if self.step % self.config.log_iters == 0:
                for value in stats.values():
                    dist.all_reduce(value)
                if self.is_main:
                    line = " ".join(f"{k}={v.item() / self.world:.4f}" for k, v in stats.items())
                    print(f"step {self.step} epoch {self.step / self.per_epoch:.2f} {line}", flush=True)
        if self.is_main:
            self.save()
        dist.barrier()
        dist.destroy_process_group()
