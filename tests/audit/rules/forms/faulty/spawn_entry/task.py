from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


@dataclass
class TaskConfig:
    steps: int = 2000
    width: int = 512
    lr: float = 1e-3
    batch: int = 128


class Task:
    def __init__(self, cfg, device):
        self.cfg = cfg
        self.device = device
        net = nn.Sequential(nn.Linear(64, cfg.width), nn.Tanh(), nn.Linear(cfg.width, 8))
        self.model = DDP(net.to(device), device_ids=[device.index])
        self.opt = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.gen = torch.Generator(device=device).manual_seed(dist.get_rank())
        truth = torch.Generator(device=device).manual_seed(99)
        self.truth = torch.randn(64, 8, device=device, generator=truth)

    def batch(self):
        x = torch.randn(self.cfg.batch, 64, device=self.device, generator=self.gen)
        return x, torch.sin(x @ self.truth)

    def run(self):
        for step in range(self.cfg.steps):
            x, y = self.batch()
            loss = nn.functional.mse_loss(self.model(x), y)
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            self.opt.step()
            if step % 200 == 0 and dist.get_rank() == 0:
                print(step, loss.item())
        if not torch.isfinite(loss):
            raise RuntimeError("training diverged")
