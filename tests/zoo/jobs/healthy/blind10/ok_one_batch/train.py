import argparse
import itertools

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--overfit-one-batch", action="store_true")
    parser.add_argument("--steps", type=int, default=150)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    x, y = torch.randn(640, 8), torch.randint(0, 3, (640,))
    sampler = DistributedSampler(TensorDataset(x, y))
    loader = DataLoader(TensorDataset(x, y), batch_size=16, sampler=sampler)
    model = DDP(nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 3)))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    if args.overfit_one_batch:
        batches = itertools.repeat(next(iter(loader)))
    else:
        batches = itertools.chain.from_iterable(itertools.repeat(loader))
    for step, (xb, yb) in zip(range(args.steps), batches):
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 0 and dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
