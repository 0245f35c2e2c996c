"""Goes on from the newest common snapshot when the ranks are started again."""
import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from recovery import DistributedSnapshots

ITERATIONS = 30


class LostFilesystem(OSError):
    pass


def storage(rank, iteration):
    """The shared filesystem of the first rank's node goes away once."""
    first_life = os.environ.get("ATTEMPT", "0") == "0"
    if first_life and rank == 0 and iteration == 17:
        raise LostFilesystem("stale file handle")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    snapshots = DistributedSnapshots(args.folder, rank)
    start, state = snapshots.maybe_resume()
    if state is not None:
        model.module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    if rank == 0:
        print(f"from iteration {start}", flush=True)
    for iteration in range(start, ITERATIONS):
        storage(rank, iteration)
        x = torch.randn(8, 6, generator=torch.Generator().manual_seed(iteration * 10 + rank))
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (iteration + 1) % 5 == 0:
            snapshots.save(iteration + 1, {"model": model.module.state_dict(), "optimizer": optimizer.state_dict()})
    if rank == 0:
        print(f"iteration {ITERATIONS} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
