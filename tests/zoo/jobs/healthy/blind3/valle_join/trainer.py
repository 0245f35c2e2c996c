import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from bucket_sampler import DynamicBucketingSampler
from model import TinyValle, features
from params import Params


def train_one_epoch(params, model, optimizer, sampler):
    steps, total = 0, 0.0
    with model.join():
        for numbers in sampler:
            batch = features(numbers, params.feature_dim)
            loss = (model(batch) - batch.flip(1)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
            total += loss.item()
    return steps, total / steps


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    params = Params()
    torch.manual_seed(params.seed)
    model = DistributedDataParallel(TinyValle(params))
    optimizer = torch.optim.SGD(model.parameters(), lr=params.lr)
    sampler = DynamicBucketingSampler(params, rank)
    for epoch in range(1, params.epochs + 1):
        steps, loss = train_one_epoch(params, model, optimizer, sampler)
        print(f"rank {rank} epoch {epoch}: {steps} batches, loss {loss:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
