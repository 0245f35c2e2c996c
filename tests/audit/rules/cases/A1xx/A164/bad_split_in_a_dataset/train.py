import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from data import Split


def main():
    dist.init_process_group("gloo")
    rows = torch.load("rows.pt", weights_only=True).tolist()
    train, held = Split(rows, "train"), Split(rows, "held")
    sampler = DistributedSampler(train)
    model = DDP(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x in DataLoader(train, 8, sampler=sampler):
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
    total = torch.zeros(1)
    for x in DataLoader(held, 8, sampler=DistributedSampler(held)):
        total += model.module(x).mean().detach()
    dist.all_reduce(total)
    dist.destroy_process_group()


main()
