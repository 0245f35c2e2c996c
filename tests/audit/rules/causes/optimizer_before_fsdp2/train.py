"""fully_shard replaces the parameters by DTensors: the optimizer holds those from before."""
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard


def build(lr):
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)  # cause
    return model, optimizer


def shard(model):
    for layer in model:
        if isinstance(layer, torch.nn.Linear):
            fully_shard(layer)  # cause
    return fully_shard(model)  # cause


def main():
    dist.init_process_group("gloo")
    model, optimizer = build(1e-3)  # cause
    model = shard(model)  # cause
    for _ in range(10):
        loss = model(torch.randn(4, 8)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    dist.destroy_process_group()


main()
