import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Stopper:
    def __init__(self, folder):
        self.flag = Path(folder) / "stop"

    def asked(self):
        wanted = False
        if self.flag.exists():
            wanted = True
        return wanted


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    net = nn.Linear(64, 64).to(device)
    model = DDP(net, device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    gen = torch.Generator(device=device).manual_seed(dist.get_rank())
    stopper = Stopper("runs")
    for step in range(100_000):
        x = torch.randn(32, 64, device=device, generator=gen)
        opt.zero_grad(set_to_none=True)
        (model(x) - x).square().mean().backward()
        opt.step()
        if stopper.asked():  # cause
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
