import os
from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


@dataclass
class Settings:
    precision: torch.dtype = torch.bfloat16
    limit: float = 1.0
    steps: int = 1000


@dataclass
class Events:
    table: dict = field(default_factory=dict)

    def on(self, name, call):
        self.table.setdefault(name, []).append(call)

    def emit(self, name, *given):
        for call in self.table.get(name, []):
            call(*given)


class Worker:
    def __init__(self, settings, events, device):
        self.settings, self.events, self.device = settings, events, device
        self.model = DDP(nn.Linear(64, 64).to(device), device_ids=[device.index])
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler("cuda", enabled=settings.precision == torch.float16)
        events.on("gradients", self.clip)

    def clip(self, step):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.limit)

    def step(self, step):
        with torch.autocast("cuda", dtype=self.settings.precision):
            loss = self.model(torch.randn(32, 64, device=self.device)).square().mean()
        self.scaler.scale(loss).backward()
        self.events.emit("gradients", step)
        self.scaler.step(self.opt)
        self.scaler.update()
        self.opt.zero_grad(set_to_none=True)


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.manual_seed(dist.get_rank())
    settings = Settings()
    worker = Worker(settings, Events(), device)
    for step in range(settings.steps):
        worker.step(step)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
