import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def all_finite(model):
    return all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.manual_seed(dist.get_rank())
    model = DDP(nn.Linear(64, 64).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(1000):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(torch.randn(32, 64, device=device)).square().mean()
        opt.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        if all_finite(model):
            scaler.step(opt)
            scaler.update()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
