import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def validation(model, rank, loader):
    totals = torch.zeros(2, device=rank)
    for batch in loader:
        totals[0] += model(batch)
        totals[1] += 1
    dist.reduce(totals, 0, op=dist.ReduceOp.SUM)
    val_loss = totals[0] / totals[1]
    if rank == 0:
        print(f"validation loss {val_loss.item():.4f}")
    return val_loss.item()


def main(net, local_rank, loader, epochs):
    model = FSDP(net, device_id=local_rank)
    lowest = float("inf")
    for _ in range(epochs):
        current = validation(model, local_rank, loader)
        if current < lowest:
            lowest = current
            state = model.state_dict()
            if local_rank == 0:
                torch.save(state, "best.pt")


def with_patience(model, local_rank, loader, epochs):
    worst, waited = 0.0, 0
    for _ in range(epochs):
        hits = torch.tensor(float(model(loader)), device=local_rank)
        dist.reduce(hits, dst=0)
        score = hits / len(loader)
        if score > worst:
            worst = max(worst, score)
            waited = 0
        elif waited > 3:
            break
