import os
import time

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict


def setup():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    return dist.get_rank(), dist.get_world_size()


def train_one_epoch(model, rank, loader, optimizer, epoch, accum=1):
    model.train()
    totals = torch.zeros(2)
    for i, (x, y) in enumerate(loader):
        model.set_requires_gradient_sync((i + 1) % accum == 0)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(x), y)
        (loss / accum).backward()
        if (i + 1) % accum == 0:
            optimizer.step()
            optimizer.zero_grad()
        totals += torch.tensor([loss.item(), 1.0])
    dist.all_reduce(totals, op=dist.ReduceOp.SUM)
    train_loss = (totals[0] / totals[1]).item()
    if rank == 0:
        print(f"Train Epoch: {epoch}, Loss: {train_loss:.4f}", flush=True)
    return train_loss


@torch.no_grad()
def validate(model, rank, world_size, loader):
    model.eval()
    totals = torch.zeros(2)
    for x, y in loader:
        totals[0] += torch.nn.functional.binary_cross_entropy_with_logits(model(x), y, reduction="sum")
        totals[1] += y.numel()
    dist.reduce(totals, dst=0, op=dist.ReduceOp.SUM)
    val_loss = (totals[0] / totals[1]).item()
    if rank == 0:
        print(f"Validation Loss: {val_loss:.4f}", flush=True)
    return val_loss


class BestCheckpoint:
    """Keeps the full weights of the epoch with the lowest validation loss."""

    def __init__(self, folder, min_delta=0.0):
        self.folder, self.min_delta = folder, min_delta
        self.best = float("inf")
        self.history = []

    def update(self, model, rank, epoch, val_loss):
        self.history.append(val_loss)
        if val_loss > self.best - self.min_delta:
            return False
        self.best = val_loss
        dist.barrier()
        state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
        if rank == 0:
            os.makedirs(self.folder, exist_ok=True)
            torch.save({"model": state, "epoch": epoch, "val_loss": val_loss, "time": time.time()},
                       os.path.join(self.folder, "best.pt"))
            print(f"--> epoch {epoch}: new best {val_loss:.4f}, saved", flush=True)
        return True
