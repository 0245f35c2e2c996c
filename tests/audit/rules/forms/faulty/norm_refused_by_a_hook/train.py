import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def accept(norm, limit=50.0):
    return bool(norm < limit)


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
        scaler.unscale_(opt)  # cause
        if not accept(nn.utils.clip_grad_norm_(model.parameters(), 1.0)):  # cause
            continue  # cause
        scaler.step(opt)
        scaler.update()  # cause
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
