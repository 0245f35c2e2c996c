import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def loader(data):
    return DataLoader(data, 8, sampler=DistributedSampler(data))


def multiplied(data):
    model = DDP(nn.Linear(8, 8).cuda())
    for x, y in loader(data):
        total = (y != -100).sum().cuda()
        dist.all_reduce(total)
        loss = cross_entropy(model(x.cuda()), y.cuda(), reduction="sum") / total
        (loss * dist.get_world_size()).backward()


def multiplied_afterwards(data, world_size):
    model = DDP(nn.Linear(8, 8).cuda())
    for x, y in loader(data):
        total = (y != -100).sum().cuda()
        dist.all_reduce(total)
        cross_entropy(model(x.cuda()), y.cuda(), reduction="sum").backward()
        for p in model.parameters():
            p.grad.mul_(world_size / total)


def mean_of_counts(data):
    model = DDP(nn.Linear(8, 8).cuda())
    for x, y in loader(data):
        total = (y != -100).sum().float().cuda()
        dist.all_reduce(total, op=dist.ReduceOp.AVG)
        (cross_entropy(model(x.cuda()), y.cuda(), reduction="sum") / total).backward()


def own_count(data):
    model = DDP(nn.Linear(8, 8).cuda())
    for x, y in loader(data):
        total = (y != -100).sum().cuda()
        loss = cross_entropy(model(x.cuda()), y.cuda(), reduction="sum")
        (loss / total).backward()
        sums = torch.stack([loss.detach(), total.float()])
        dist.all_reduce(sums)
        print((sums[0] / sums[1]).item())


def summed_by_hand(data):
    model = nn.Linear(8, 8).cuda()
    for x, y in loader(data):
        total = (y != -100).sum().cuda()
        dist.all_reduce(total)
        (cross_entropy(model(x.cuda()), y.cuda(), reduction="sum") / total).backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)


def standardised(data):
    model = DDP(nn.Linear(8, 8).cuda())
    for x, y in loader(data):
        sums = torch.stack([x.sum(), torch.tensor(float(x.numel()))]).cuda()
        dist.all_reduce(sums)
        x = x.cuda() - sums[0] / sums[1]
        cross_entropy(model(x), y.cuda()).backward()


def number_of_ranks(data):
    model = DDP(nn.Linear(8, 8).cuda())
    count = torch.ones(1, device="cuda")
    dist.all_reduce(count)
    for x, y in loader(data):
        (cross_entropy(model(x.cuda()), y.cuda()) / count).backward()


if __name__ == "__main__":
    dist.init_process_group("nccl")
    multiplied(torch.load("data.pt"))
    dist.destroy_process_group()
