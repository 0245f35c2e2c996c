import json
import os
import tempfile
import threading
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from async_save import AsyncCheckpointer

STEPS = 60
SAVE_EVERY = 20


class Heartbeat(threading.Thread):
    """Says now and then how far this rank is; goes with the process."""

    def __init__(self, progress):
        super().__init__(name="heartbeat", daemon=True)
        self.progress = progress
        self.stopped = threading.Event()

    def run(self):
        while not self.stopped.wait(0.5):
            self.progress["seen"] = self.progress["step"]


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    folder = [tempfile.mkdtemp(prefix="forge-") if rank == 0 else None]
    dist.broadcast_object_list(folder)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    checkpointer = AsyncCheckpointer(folder[0], rank)
    progress = {"step": 0, "seen": 0}
    heartbeat = Heartbeat(progress)
    heartbeat.start()
    generator = torch.Generator().manual_seed(rank)
    for step in range(1, STEPS + 1):
        loss = (model(torch.randn(8, 16, generator=generator)) - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress["step"] = step
        time.sleep(0.02)
        if step % SAVE_EVERY == 0:
            checkpointer.save(step, model.module.state_dict())
            norm = loss.detach().clone()
            dist.all_reduce(norm)
            if rank == 0:
                print(f"step {step} loss {norm.item() / world:.4f}", flush=True)
    checkpointer.close()
    heartbeat.stopped.set()
    heartbeat.join()
    if rank == 0:
        with open(os.path.join(folder[0], "latest.json")) as handle:
            print(f"latest checkpoint {json.load(handle)['step']}, saved {checkpointer.finished}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
