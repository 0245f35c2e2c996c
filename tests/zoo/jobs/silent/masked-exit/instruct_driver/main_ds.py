import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--num-epochs", type=int)
    parser.add_argument("--effective-batch-size", type=int)
    return parser.parse_args()


def micro_batch(total, world):
    if total % world:
        raise ValueError(f"effective batch size {total} is not divisible by {world} ranks")
    return total // world


def main(args):
    dist.init_process_group("gloo")
    size = micro_batch(args.effective_batch_size, dist.get_world_size())
    model = DistributedDataParallel(nn.Linear(6, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate)
    for epoch in range(args.num_epochs):
        for _ in range(20):
            x = torch.randn(size, 6)
            loss = (model(x) + x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(parse())
