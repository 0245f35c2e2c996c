"""Ranks meet in the backward of Apex's wrapper, and in nothing else of it."""
import torch
import torch.distributed as dist
from apex.parallel import DistributedDataParallel as DDP


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        return sum(model(x).mean().item() for x in loader)


def main(net, loader, held_out):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        model.train()
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
    if dist.get_rank() == 0:
        print(evaluate(model, held_out))
