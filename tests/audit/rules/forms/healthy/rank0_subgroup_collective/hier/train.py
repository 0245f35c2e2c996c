import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler

from hier.reduce import flatten_grads, hierarchical_mean, write_back
from hier.topology import Topology


def main(dataset, dim, classes, epochs=12):
    dist.init_process_group("nccl")
    topo = Topology().build()
    torch.cuda.set_device(topo.local)
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(dim, 1024), nn.GELU(), nn.Linear(1024, classes)).cuda()
    params = list(net.parameters())
    opt = torch.optim.SGD(params, lr=0.1, momentum=0.9)
    sampler = DistributedSampler(dataset, num_replicas=topo.world, rank=topo.rank, drop_last=True)
    loader = DataLoader(dataset, 256, sampler=sampler, drop_last=True, num_workers=4)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x.cuda()), y.cuda())
            opt.zero_grad()
            loss.backward()
            write_back(params, hierarchical_mean(flatten_grads(params), topo))
            opt.step()
        if topo.rank == 0:
            torch.save(net.state_dict(), os.environ.get("OUT", "hier.pt"))
    dist.barrier()
    dist.destroy_process_group()
