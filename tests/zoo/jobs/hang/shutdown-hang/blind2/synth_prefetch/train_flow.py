import argparse
import itertools

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from estimator import FlowEstimator
from synthpix import FlowSampler, PrefetchingWrapper


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--buffer-size", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-3)
    return parser.parse_args()


def train(model, batches, optimizer, steps):
    for step, (images, flow) in enumerate(itertools.islice(batches, steps)):
        loss = (model(images) - flow).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0 and dist.get_rank() == 0:
            print(f"step {step} endpoint error {loss.item() ** 0.5:.3f}", flush=True)


def main():
    args = parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DDP(FlowEstimator())
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    batches = PrefetchingWrapper(FlowSampler(args.batch_size, seed=dist.get_rank()), args.buffer_size)
    try:
        train(model, batches, optimizer, args.steps)
    finally:
        batches.shutdown()
    dist.barrier()
    dist.destroy_process_group()
    print("training finished", flush=True)


if __name__ == "__main__":
    main()
