import argparse
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset

from pipe.channel import Channel
from pipe.stages import Lower, Upper


def corpus(n=1000):
    g = torch.Generator().manual_seed(8)
    x = torch.randn(n, 32, generator=g)
    return TensorDataset(x, (x @ torch.randn(32, 6, generator=g)).argmax(1))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--micro", type=int, default=16)
    p.add_argument("--epochs", type=int, default=4)
    args = p.parse_args()
    dist.init_process_group("gloo", timeout=timedelta(minutes=20))
    rank = dist.get_rank()
    torch.manual_seed(rank)
    channel = Channel(peer=1 - rank)
    stage = (Lower if rank == 0 else Upper)(channel, args.micro)
    index = 0
    for epoch in range(args.epochs):
        loader = DataLoader(corpus(), batch_size=args.batch, shuffle=True, generator=torch.Generator().manual_seed(epoch))
        for x, y in loader:
            result = stage.step(index, x if rank == 0 else y)
            index += 1
            if rank == 1 and index % 5 == 0:
                print(f"step {index} loss {result:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
