import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from data import Train, Validation


def reduce_tensor(tensor, num_gpus):
    total = tensor.clone()
    dist.all_reduce(total)
    return total / num_gpus


@torch.no_grad()
def validate(model, val_loader, world_size):
    val_loss = 0.0
    for x, y in val_loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        val_loss += loss.item() if world_size > 1 else reduce_tensor(loss, world_size).item()
    return val_loss / len(val_loader)


def main():
    dist.init_process_group("gloo")
    world_size = dist.get_world_size()
    train_set = Train()
    loader = DataLoader(train_set, 8, sampler=DistributedSampler(train_set))
    val_set = Validation()
    val_loader = DataLoader(val_set, 8, sampler=DistributedSampler(val_set, shuffle=False))
    model = DDP(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        plateau.step(validate(model, val_loader, world_size))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
