import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from config import Config
from saver import AsyncSaver


def main(cfg):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 64)))
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, cfg.warmup)
    saver = AsyncSaver(cfg, rank, os.environ["TORCHELASTIC_RUN_ID"])
    gen = torch.Generator().manual_seed(rank)
    for step in range(1, cfg.steps + 1):
        x = torch.randn(64, 64, generator=gen)
        loss = (model(x) - x.flip(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % cfg.save_every == 0:
            if rank == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)
            saver.save(step, model, opt)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Config())
