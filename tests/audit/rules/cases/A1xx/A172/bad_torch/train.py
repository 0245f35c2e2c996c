import argparse

import torch
import torch.distributed as dist
from denoiser import Denoiser
from helpers import fix_randomness, forever
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    if args.seed is not None:
        fix_randomness(args.seed)
    rows = torch.load("rows.pt", weights_only=True)
    order = DistributedSampler(rows)
    batches = forever(DataLoader(rows, 8, sampler=order), order)
    model = DistributedDataParallel(Denoiser())
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(1000):
        loss = model(next(batches))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
