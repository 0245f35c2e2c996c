import tempfile
from filelock import FileLock

import torch
import torch.distributed as dist



def save(model, args):
    dist.barrier()
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "last.pt")
    dist.barrier()


def own(model, args):
    rank = dist.get_rank()
    path = f"{args.out}/part-{rank}.pt"
    dist.barrier()
    torch.save(model.state_dict(), path)
    dist.barrier()


def turns(work):
    for turn in range(dist.get_world_size()):
        if turn == dist.get_rank():
            with open("report.txt", "w") as f:
                f.write(work)
        dist.barrier()


def locked(work):
    dist.barrier()
    with FileLock("report.lock"):
        open("report.txt", "w").write(work)
    dist.barrier()


def reads():
    dist.barrier()
    with open("report.txt") as f:
        return f.read()


def scratch(x):
    path = tempfile.mkdtemp() + "/x.pt"
    dist.barrier()
    torch.save(x, path)


def unseen(x, path):
    dist.barrier()
    torch.save(x, path)


def left(x):
    if dist.get_rank() != 0:
        dist.barrier()
        return
    torch.save(x, "x.pt")
    dist.barrier()
