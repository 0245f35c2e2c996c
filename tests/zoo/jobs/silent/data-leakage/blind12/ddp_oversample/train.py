import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from data import get_datasets


def loaders(batch):
    train_set, val_set = get_datasets()
    sampler = DistributedSampler(train_set, shuffle=True)
    train_loader = DataLoader(train_set, batch, sampler=sampler)
    val_loader = DataLoader(val_set, batch, sampler=DistributedSampler(val_set, shuffle=False))
    return train_loader, val_loader, sampler


@torch.no_grad()
def recall(model, loader):
    model.eval()
    hit = torch.zeros(2)
    for x, y in loader:
        pred = model.module(x).argmax(1)
        hit += torch.tensor([((pred == 1) & (y == 1)).sum().item(), (y == 1).sum().item()])
    dist.all_reduce(hit)
    model.train()
    return (hit[0] / hit[1]).item()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(31)
    train_loader, val_loader, sampler = loaders(24)
    model = DDP(nn.Sequential(nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 2)))
    opt = torch.optim.AdamW(model.parameters(), 2e-3)
    for epoch in range(6):
        sampler.set_epoch(epoch)
        for x, y in train_loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        score = recall(model, val_loader)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} fraud recall {score:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
