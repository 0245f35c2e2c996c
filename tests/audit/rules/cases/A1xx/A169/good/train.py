import io

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def save(model, rank):
    if rank == 0:
        torch.save(model.module.state_dict(), "best.pt")


def export(state):
    torch.save(state, "export.pt")


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DistributedDataParallel(torch.nn.Linear(3, 1))
    save(model, rank)
    torch.save(torch.get_rng_state(), f"rng{rank}.pt")
    buffer = io.BytesIO()
    torch.save(model.module.state_dict(), buffer)
    if rank > 0:
        return
    export(model.module.state_dict())


main()
