import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Store:
    def __init__(self, folder):
        self.folder = Path(folder)

    def keep(self, phase, model):
        torch.save(model.state_dict(), self.folder / f"net_{phase}.pt")

    def fetch(self, phase, net):
        net.load_state_dict(torch.load(self.folder / f"net_{phase}.pt", map_location="cpu"), strict=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--phase", choices=["first", "second"], default="first")
    args = parser.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    store = Store("runs")
    net = nn.Linear(64, 64)
    if args.phase == "second":
        store.fetch("imagenet", net)
    model = DDP(net.to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(dist.get_rank())
    for _ in range(1000):
        opt.zero_grad(set_to_none=True)
        model(torch.randn(32, 64, device=device)).square().mean().backward()
        opt.step()
    if dist.get_rank() == 0:
        store.keep(args.phase, model)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
