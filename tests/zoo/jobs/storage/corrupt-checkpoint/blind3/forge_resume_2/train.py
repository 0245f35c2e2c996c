import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from config import CheckpointConfig, JobConfig
from manager import CheckpointManager
from model import build_model, sample


def main():
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    cfg = JobConfig()
    model = DistributedDataParallel(build_model(cfg))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    manager = CheckpointManager(CheckpointConfig(), model, optimizer)
    start = manager.load()
    generator = torch.Generator().manual_seed(cfg.seed + 1000 * start + rank)
    for step in range(start + 1, cfg.total_steps + 1):
        x, y = sample(cfg, generator)
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
