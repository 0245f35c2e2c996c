import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def mean_of(values):
    if not dist.is_available() or not dist.is_initialized():
        return values
    if dist.get_world_size() < 2:
        return values
    dist.all_reduce(values)
    return values


def train(net, loader, target):
    model = DDP(net)
    for batch in loader:
        loss = model(batch).mean()
        bad = torch.isnan(loss).float()
        dist.all_reduce(bad, op=dist.ReduceOp.MAX)
        if bad.item():
            continue
        loss.backward()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if mean.item() < target:
            break
    dist.barrier()
    if dist.get_rank() != 0:
        return
    torch.save(net.state_dict(), "model.pt")


def count(values, wanted):
    for value in values:
        if value.item() == wanted:
            return value
    return None
