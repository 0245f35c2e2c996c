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


@torch.no_grad()
def evaluate(net, loader):
    sums = torch.zeros(2)
    for x, y in loader:
        sums += torch.stack([(net(x) - y).abs().sum(), torch.tensor(float(len(y)))])
    dist.all_reduce(sums)
    return (sums[0] / sums[1]).item()


def keep_best(net, loader, epochs):
    best = float("inf")
    for _ in range(epochs):
        error = evaluate(net, loader)
        if error >= best:
            return
        best = error
        dist.barrier()


def share(x, group):
    if dist.get_rank() != 0:
        return
    dist.all_reduce(x, group=group)
