import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from counts import class_counts
from samples import labelled


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rank = dist.get_rank()
    model = DistributedDataParallel(nn.Linear(10, 3))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    weights = torch.ones(3)
    for epoch in range(3):
        x, y, certainty = labelled(rank, epoch)
        counts = class_counts(y, certainty)
        dist.all_reduce(counts)
        weights = (counts.sum() / counts.clamp(min=1)).float()
        weights = (weights / weights.sum()).nan_to_num(1.0, 1.0, 1.0)
        for i in range(0, len(x), 16):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x[i : i + 16]), y[i : i + 16], weight=weights)
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f} class weights {[round(w, 3) for w in weights.tolist()]}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
