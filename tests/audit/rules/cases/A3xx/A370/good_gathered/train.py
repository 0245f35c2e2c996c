"""The states of all ranks are in one file, and each takes its own."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(path):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.manual_seed(5 + rank)
    model = DDP(torch.nn.Linear(3, 3).cuda())
    state = torch.load(path, map_location="cpu")
    torch.set_rng_state(state["rng"][rank])
    for step in range(100):
        model(torch.randn(8, 3).cuda()).mean().backward()
        states = [None] * dist.get_world_size()
        dist.all_gather_object(states, torch.get_rng_state())
        if rank == 0:
            torch.save({"model": model.module.state_dict(), "rng": states}, f"{step}.pt")


main("last.pt")
