import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def largest(model, device):
    size = 8
    while size < 4096:
        try:
            model(torch.randn(size * 2, 64, device=device)).square().mean().backward()
        except torch.cuda.OutOfMemoryError:  # cause
            torch.cuda.empty_cache()
            break
        size *= 2
    return size


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.manual_seed(dist.get_rank())
    model = DDP(nn.Linear(64, 64).to(device), device_ids=[device.index])
    size = largest(model, device)
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(1000):
        x = torch.randn(size, 64, device=device)
        opt.zero_grad(set_to_none=True)
        (model(x) - x).square().mean().backward()
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
