import os
import pathlib

import numpy as np
import torch
import torch.distributed as dist
from checkpoint import save_checkpoint
from torch.nn.parallel import DistributedDataParallel as DDP


def main(out="runs/a"):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(4, 1).to(int(os.environ["LOCAL_RANK"])))
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(100):
        optimizer.zero_grad()
        model(torch.rand(8, 4)).mean().backward()
        optimizer.step()
        if step % 10 == 9:
            save_checkpoint(out, step, model.state_dict(), optimizer.state_dict(), rank)
    shares = pathlib.Path(out) / "shares"
    if rank == 0:
        shares.mkdir(parents=True, exist_ok=True)
    np.save(shares / f"{rank}.npy", np.zeros(3))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
