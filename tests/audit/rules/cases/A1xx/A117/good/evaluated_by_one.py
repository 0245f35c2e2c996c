"""Rank 0 alone has the average, and rank 0 alone uses it."""

import copy
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


@torch.no_grad()
def update(teacher, student, decay=0.99):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.lerp_(s, 1 - decay)


@torch.no_grad()
def share(teacher):
    for t in teacher.state_dict().values():
        dist.broadcast(t, src=0)


def main(net, data):
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    student = DDP(net.cuda(), device_ids=[local])
    teacher = copy.deepcopy(student.module).eval()
    for p in teacher.parameters():
        p.requires_grad_(False)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 8, sampler=sampler)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for x, y in loader:
            x = x.cuda()
            loss = (student(x) - x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if dist.get_rank() == 0:
                update(teacher, student.module)
        if dist.get_rank() == 0:
            torch.save(teacher.state_dict(), "teacher.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(torch.nn.Linear(4, 4), torch.rand(8, 4))
