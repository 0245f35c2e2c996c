import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def loader(data):
    return DataLoader(data, 8, sampler=DistributedSampler(data, num_replicas=dist.get_world_size(), rank=dist.get_rank()))


def by_loss(data):
    model = DDP(nn.Linear(8, 8).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader(data):
        total = (y != -100).sum().cuda()
        dist.all_reduce(total)
        loss = cross_entropy(model(x.cuda()), y.cuda(), reduction="sum") / total
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def scale(model, factor):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.mul_(factor)


def by_gradients(data):
    model = nn.Linear(8, 8).cuda()
    fully_shard(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader(data):
        count = torch.tensor(len(y), device="cuda")
        optimizer.zero_grad()
        cross_entropy(model(x.cuda()), y.cuda(), reduction="sum").backward()
        dist.all_reduce(count, op=dist.ReduceOp.SUM)
        scale(model, 1.0 / count.item())
        optimizer.step()


def divided(data):
    model = DDP(nn.Linear(8, 8).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader(data):
        count = torch.tensor(len(y), device="cuda")
        optimizer.zero_grad()
        cross_entropy(model(x.cuda()), y.cuda(), reduction="sum").backward()
        dist.all_reduce(count)
        for p in model.parameters():
            p.grad.div_(count)
        optimizer.step()


if __name__ == "__main__":
    dist.init_process_group("nccl")
    by_loss(torch.load("data.pt"))
    dist.destroy_process_group()
