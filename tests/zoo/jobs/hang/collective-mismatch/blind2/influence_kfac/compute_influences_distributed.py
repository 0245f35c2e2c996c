import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from analog import AnaLogState, HookLogger, InfluenceConfig


def build_model(config):
    layers = []
    for _ in range(config.depth):
        layers += [nn.Linear(config.hidden, config.hidden), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(config.hidden, 10))


def build_loader(config):
    generator = torch.Generator().manual_seed(config.seed)
    x = torch.randn(config.num_samples, config.hidden, generator=generator)
    y = torch.randint(0, 10, (config.num_samples,), generator=generator)
    dataset = TensorDataset(x, y)
    return DataLoader(dataset, batch_size=config.batch_size, sampler=DistributedSampler(dataset, shuffle=False))


def main():
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    config = InfluenceConfig()
    torch.manual_seed(config.seed)
    model = DDP(build_model(config))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = build_loader(config)

    for epoch in range(config.epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)

    state = AnaLogState(dist.get_world_size())
    logger = HookLogger(config, state)
    logger.watch(model.module)
    for x, y in loader:
        model.module.zero_grad()
        F.cross_entropy(model.module(x), y).backward()
    if rank == 0:
        print("collected statistics, synchronizing", flush=True)
    logger.finalize()
    if rank == 0:
        print(state.trace("forward_covariance"), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
