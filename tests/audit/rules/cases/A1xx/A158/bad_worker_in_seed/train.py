import argparse
import glob
import os

import torch
import torch.distributed as dist
from stream import Captions
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    dist.init_process_group("nccl")
    rank, world, local = dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    data = Captions(sorted(glob.glob("shards/*.jsonl")), rank, world)
    loader = DataLoader(data, 16, num_workers=args.workers)
    model = DDP(torch.nn.Linear(10, 1).to(local))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(3):
        data.epoch = epoch
        for batch in loader:
            optimizer.zero_grad()
            model(batch["x"].to(local)).mean().backward()
            optimizer.step()


if __name__ == "__main__":
    main()
