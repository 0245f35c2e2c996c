import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


@torch.no_grad()
def read_too_early(model, loader, device):
    totals = torch.zeros(2, device=device)
    for batch in loader:
        totals[0] += model(**batch).loss
        totals[1] += 1
    val_loss = totals[0] / totals[1]
    dist.all_reduce(totals)
    return val_loss.item()


@torch.no_grad()
def added_behind(model, loader, device):
    totals = torch.zeros(2, device=device)
    for batch in loader:
        totals[0] += model(**batch).loss
        totals[1] += 1
    dist.all_reduce(totals)
    val_loss = totals[0] / totals[1]
    for batch in loader:
        loss = model(**batch).loss
        val_loss += loss
    return val_loss.item()


def save(model, path):
    with FSDP.state_dict_type(model):
        torch.save(model.state_dict(), path)


def main(net, loader, device, epochs):
    model = FSDP(net, device_id=device)
    best_loss = float("inf")
    for epoch in range(epochs):
        current_loss = read_too_early(model, loader, device)
        if current_loss < best_loss:
            best_loss = current_loss
            save(model, f"best_{epoch}.pt")


def other(net, loader, device, epochs):
    model = FSDP(net, device_id=device)
    best_loss = float("inf")
    for epoch in range(epochs):
        current_loss = added_behind(model, loader, device)
        if current_loss < best_loss:
            best_loss = current_loss
            save(model, f"best_{epoch}.pt")
