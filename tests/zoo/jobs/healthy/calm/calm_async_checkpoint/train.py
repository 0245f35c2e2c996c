import time
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.nn.parallel import DistributedDataParallel as DDP

from storage import SlowWriter


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=20))
    rank = dist.get_rank()
    # The thread that saves calls collectives while this one trains: in one group they would overtake each other.
    savers = dist.new_group()
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 8)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    saving = None
    for step in range(1, 121):
        x = torch.randn(16, 32)
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.05)
        if step % 60 == 0:
            if saving is not None:
                saving.result()
            weights, moments = get_state_dict(model, optimizer)
            saving = dcp.async_save(
                {"model": weights, "optimizer": moments},
                storage_writer=SlowWriter(f"checkpoints/step{step}"),
                process_group=savers,
            )
            if rank == 0:
                print(f"step {step}: saving in the background", flush=True)
    saving.result()
    print(f"rank {rank}: saved, loss {loss.item():.5f}", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
