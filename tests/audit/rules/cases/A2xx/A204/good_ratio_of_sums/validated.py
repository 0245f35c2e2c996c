import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


@torch.no_grad()
def validate(model, loader, device):
    totals = torch.zeros(2, device=device)
    for batch in loader:
        totals[0] += model(**batch).loss
        totals[1] += 1
    dist.all_reduce(totals, op=dist.ReduceOp.SUM)
    val_loss = totals[0] / totals[1]
    print(f"loss {val_loss.item():.4f}")
    return val_loss.item()


@torch.no_grad()
def validate_scaled(model, loader, device):
    sums = torch.zeros(2, device=device)
    for batch in loader:
        sums += torch.stack([model(**batch).loss, torch.ones((), device=device)])
    dist.all_reduce(sums)
    summed_loss = sums[0]
    mean_loss = summed_loss / sums[1].clamp(min=1)
    half_loss = mean_loss / 2
    return half_loss.item()


def save(model, path):
    with FSDP.state_dict_type(model):
        torch.save(model.state_dict(), path)


def main(net, loader, device, epochs):
    model = FSDP(net, device_id=device)
    best_loss = float("inf")
    for epoch in range(epochs):
        current_loss = validate(model, loader, device)
        if current_loss < best_loss:
            best_loss = current_loss
            save(model, f"best_{epoch}.pt")


def other(net, loader, device, epochs):
    model = FSDP(net, device_id=device)
    lowest_loss = 1e9
    for _ in range(epochs):
        current_loss = validate_scaled(model, loader, device)
        if current_loss >= lowest_loss:
            continue
        lowest_loss = current_loss
        save(model, "lowest.pt")
