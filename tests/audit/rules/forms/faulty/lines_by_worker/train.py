import argparse
import os
import random

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Lines(IterableDataset):
    def __init__(self, config):
        self.config = config
        self.rng = random.Random(config.shuffle_seed)

    def share(self):
        info = get_worker_info()  # cause
        return (0, 1) if info is None else (info.id, info.num_workers)

    def __iter__(self):
        first, step = self.share()
        with open(self.config.text) as file:
            for at, line in enumerate(file):
                if at % step == first:  # cause
                    yield torch.tensor([float(one) for one in line.split()])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--text", default="rows.txt")
    parser.add_argument("--shuffle-seed", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=3)
    config = parser.parse_args()
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    loader = DataLoader(Lines(config), 32, num_workers=2, drop_last=True)
    model = DDP(nn.Linear(64, 64).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(config.epochs):
        for x in loader:
            opt.zero_grad(set_to_none=True)
            model(x.to(device)).square().mean().backward()
            opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
