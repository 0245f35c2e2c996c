import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from callbacks import EarlyStopping, History
from data import fold


def epoch_of(model, optimizer, x, y, batch=16):
    for i in range(0, len(x), batch):
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(model(x[i : i + batch]).flatten(), y[i : i + batch])
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def validate(model, x, y):
    return torch.nn.functional.binary_cross_entropy_with_logits(model.module(x).flatten(), y).item()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rank = dist.get_rank()
    (x, y), (vx, vy) = fold(rank)
    model = DDP(torch.nn.Sequential(torch.nn.Linear(20, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    callbacks = [History(), EarlyStopping(patience=2)]
    for epoch in range(40):
        train_loss = epoch_of(model, optimizer, x, y)
        val_loss = validate(model, vx, vy)
        for callback in callbacks:
            callback.on_epoch_end(epoch, train_loss, val_loss)
        if any(callback.stop for callback in callbacks):
            print(f"[{rank}] stopping after epoch {epoch}", flush=True)
            break
    dist.barrier()
    if rank == 0:
        torch.save(model.module.state_dict(), "final.pt")
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
