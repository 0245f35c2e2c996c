from collections import defaultdict

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def main():
    dist.init_process_group("nccl")
    data = torch.load("data.pt")
    net = DistributedDataParallel(torch.nn.Linear(8, 8))
    sums = defaultdict(list)
    for x, kind in DataLoader(data, 4, sampler=DistributedSampler(data)):
        loss = net(x).square().mean()
        if kind.max() > 3:
            sums["rare"].append(loss.item())
        sums["all"].append(loss.item())
        loss.backward()
    for name in sorted(sums):
        total = torch.tensor(sum(sums[name])).cuda()
        dist.all_reduce(total)
        print(name, total)


if __name__ == "__main__":
    main()
