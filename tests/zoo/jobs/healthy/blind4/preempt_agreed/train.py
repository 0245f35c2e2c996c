import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from preemption import PreemptionWatch, Scheduler

MAX_STEPS = 90000
CKPT_FREQ = 90000


class FlowHead(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width + 1, 32), nn.SiLU(), nn.Linear(32, width))

    def forward(self, x, t):
        return self.net(torch.cat([x, t], dim=-1))


def save(folder, model, optimizer, step):
    path = os.path.join(folder, f"checkpoint_{step:08d}.pt")
    torch.save({"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)
    return path


def flow_loss(model, generator):
    clean = torch.randn(8, 16, generator=generator)
    noise = torch.randn(8, 16, generator=generator)
    t = torch.rand(8, 1, generator=generator)
    return (model((1 - t) * noise + t * clean, t) - (clean - noise)).pow(2).mean()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    folder = [tempfile.mkdtemp(prefix="tts-") if rank == 0 else None]
    dist.broadcast_object_list(folder)
    watch = PreemptionWatch()
    scheduler = Scheduler(rank, told=world - 1, at=70)
    torch.manual_seed(0)
    model = DistributedDataParallel(FlowHead())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(rank)
    step = 0
    while step < MAX_STEPS:
        scheduler.tick(step)
        loss = flow_loss(model, generator)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        number = watch.agreed()
        if number or step % CKPT_FREQ == 0:
            if rank == 0:
                print(f"signal {number}: saved {os.path.basename(save(folder[0], model, optimizer, step))}", flush=True)
            dist.barrier()
        if number:
            break
    watch.close()
    if not os.path.exists(os.path.join(folder[0], f"checkpoint_{step:08d}.pt")):
        raise RuntimeError("no checkpoint of the last step")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
