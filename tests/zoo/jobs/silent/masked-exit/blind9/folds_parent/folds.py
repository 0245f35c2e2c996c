import os
import socket
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def train_fold(fold, rank, world, port, out):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(fold)
    model = DDP(nn.Linear(5, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(40):
        x = torch.randn(8, 5)
        loss = (model(x) - x[:, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.barrier()
    if rank == 0:
        state = {"fold": fold, "model": model.state_dict()}
        torch.save(state, os.path.join(out, f"fold_{fold}", "model.pt"))
    dist.destroy_process_group()


def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main(out="/tmp/folds_parent_out"):
    ctx = mp.get_context("spawn")
    os.makedirs(out, exist_ok=True)
    for fold in range(2):
        p = port()
        ranks = [ctx.Process(target=train_fold, args=(fold, r, 2, p, out)) for r in range(2)]
        for proc in ranks:
            proc.start()
        for proc in ranks:
            proc.join()
        print(f"fold {fold} trained", file=sys.stderr)
    print("all folds trained")


if __name__ == "__main__":
    main()
