import os
import pathlib

import torch
import torch.distributed as dist


def made_by_all_before(out, rank, state):
    os.makedirs(os.path.join(out, "parts"), exist_ok=True)
    if rank == 0:
        os.makedirs(out, exist_ok=True)
    torch.save(state, os.path.join(out, f"{rank}.pt"))


def written_by_one(out, rank, state):
    if rank == 0:
        os.makedirs(out + "/one", exist_ok=True)
    dist.broadcast(state, src=0)
    torch.save(state, out + f"/one/{rank}.pt")


def one_rank_writes(out, rank, state):
    if rank == 0:
        os.makedirs(out + "/b", exist_ok=True)
    if rank == 0:
        torch.save(state, out + "/b/state.pt")


def another_folder(out, rank, state):
    if rank == 0:
        os.makedirs(os.path.join(out, "plots"), exist_ok=True)
    torch.save(state, os.path.join(out, f"{rank}.pt"))


def of_each(out, rank, state):
    folder = pathlib.Path(out) / f"rank{rank}"
    if rank == 0:
        pathlib.Path(out).joinpath("log").mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(state, folder / "state.pt")


def local_first(out, rank, local_rank, state):
    if local_rank == 0:
        os.makedirs(out + "/c", exist_ok=True)
    while not os.path.isdir(out + "/c"):
        pass
    torch.save(state, out + f"/c/{rank}.pt")


def main():
    dist.init_process_group("gloo")
    rank, out = dist.get_rank(), os.environ["OUT"]
    state = torch.zeros(3)
    made_by_all_before(out, rank, state)
    written_by_one(out, rank, state)
    one_rank_writes(out, rank, state)
    another_folder(out, rank, state)
    of_each(out, rank, state)
    local_first(out, rank, int(os.environ["LOCAL_RANK"]), state)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
