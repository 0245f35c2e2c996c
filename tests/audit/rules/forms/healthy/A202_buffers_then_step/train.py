import torch
import torch.distributed as dist
import torchvision
from torch.nn.parallel import DistributedDataParallel as DDP


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader)


def inside(train_loader, val_loader, optimizer_of, epochs):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    model = DDP(torchvision.models.resnet50(num_classes=10).cuda())
    optimizer = optimizer_of(model)
    for _ in range(epochs):
        model.train()
        for x, y in train_loader:
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        if rank == 0:
            print(accuracy(model.module, val_loader))
        dist.barrier()


def taken_at_the_next_step(train_loader, val_loader, optimizer_of, epochs):
    rank = dist.get_rank()
    model = DDP(torchvision.models.resnet18(num_classes=10).cuda())
    optimizer = optimizer_of(model)
    for _ in range(epochs):
        model.train()
        for x, y in train_loader:
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        if rank == 0:
            print(accuracy(model, val_loader))
