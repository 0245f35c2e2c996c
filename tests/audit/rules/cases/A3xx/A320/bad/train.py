import torch
import torch.distributed as dist
from torch import nn
from torch.cuda.amp import GradScaler
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision


class Engine:
    def __init__(self, model, optimizer, enabled=True):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.amp.GradScaler("cuda", enabled=enabled)

    def step(self, x):
        self.scaler.scale(self.model(x).sum()).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()


def plain(data):
    model = FSDP(nn.Linear(8, 8).cuda(), mixed_precision=MixedPrecision(param_dtype=torch.float16))
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = GradScaler()
    for x in data:
        scaler.scale(model(x).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def main():
    dist.init_process_group("nccl")
    model = FSDP(nn.Linear(8, 8).cuda(), mixed_precision=MixedPrecision(param_dtype=torch.float16))
    engine = Engine(model, torch.optim.AdamW(model.parameters()))
    for x in torch.load("data.pt"):
        engine.step(x)
    plain(torch.load("data.pt"))


if __name__ == "__main__":
    main()
