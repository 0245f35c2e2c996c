import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def validation(model, rank, loader):
    totals = torch.zeros(2, device=rank)
    for batch in loader:
        totals[0] += model(batch)
    dist.reduce(totals, 0, op=dist.ReduceOp.SUM)
    return totals[0].item()


def told_to_all(net, local_rank, loader, epochs):
    model = FSDP(net, device_id=local_rank)
    lowest = float("inf")
    for _ in range(epochs):
        current = torch.tensor(validation(model, local_rank, loader), device=local_rank)
        dist.broadcast(current, src=0)
        if current < lowest:
            lowest = current
            model.state_dict()


def on_root(model, local_rank, loader, epochs):
    lowest = float("inf")
    for _ in range(epochs):
        current = validation(model, local_rank, loader)
        main = local_rank == 0
        if main and current < lowest:
            lowest = current
            torch.save(lowest, "best.pt")


def by_own_limit(model, local_rank, loader, epochs):
    limit = 0.5 if local_rank == 0 else float("-inf")
    for _ in range(epochs):
        current = validation(model, local_rank, loader)
        if current < limit:
            print("low enough")
