import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from kd.config import parse
from kd.losses import DistillationLoss
from kd.nets import convnet
from kd.shapes import make


@torch.no_grad()
def accuracy(model, data):
    model.eval()
    x, y = data.tensors
    hit = (model(x).argmax(1) == y).float().mean().item()
    model.train()
    return hit


def run(model, loader, sampler, epochs, lr, step_loss, rank, name):
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, nesterov=True, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        seen = 0.0
        for x, y in loader:
            loss = step_loss(model, x, y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            seen += loss.item()
        sched.step()
        if rank == 0:
            print(f"[{name}] epoch {epoch} loss {seen / len(loader):.4f}", flush=True)


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(5)
    train, test = make(2048, 0), make(1000, 1)
    sampler = DistributedSampler(train, shuffle=True)
    loader = DataLoader(train, batch_size=args.batch_size // dist.get_world_size(), sampler=sampler, drop_last=True)

    teacher = DDP(convnet(24, 4))
    run(teacher, loader, sampler, args.teacher_epochs, args.lr, lambda m, x, y: F.cross_entropy(m(x), y), rank, "teacher")
    teacher = teacher.module.eval().requires_grad_(False)

    student = DDP(convnet(12, 2))
    criterion = DistillationLoss(args.temperature, args.alpha)

    def distill(model, x, y):
        with torch.no_grad():
            out_t = teacher(x)
        return criterion(model(x), out_t, y)

    run(student, loader, sampler, args.epochs, args.lr, distill, rank, "student")
    if rank == 0:
        print(f"teacher {accuracy(teacher, test):.4f} student {accuracy(student.module, test):.4f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
