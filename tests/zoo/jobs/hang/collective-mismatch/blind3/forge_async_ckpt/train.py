import os
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

from config import CheckpointConfig, TrainConfig
from manager import CheckpointManager


class StatefulSampler:
    def __init__(self, cfg, rank, world_size):
        generator = torch.Generator().manual_seed(cfg.seed)
        self.order = torch.randperm(cfg.samples, generator=generator).tolist()
        self.cursor, self.rank, self.world_size = 0, rank, world_size

    def take(self, count):
        begin = self.cursor + self.rank * count
        self.cursor += count * self.world_size
        return torch.tensor(self.order[begin : begin + count])

    def state_dict(self):
        return {"cursor": self.cursor, "order": self.order}


def build_model(cfg):
    torch.manual_seed(cfg.seed)
    net = nn.Sequential(nn.Linear(64, cfg.dim), nn.GELU(), nn.Linear(cfg.dim, cfg.dim), nn.Linear(cfg.dim, 1))
    return net


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    cfg, ckpt_cfg = TrainConfig(), CheckpointConfig()
    root = Path(tempfile.gettempdir()) / f"forge-{os.environ.get('TORCHELASTIC_RUN_ID', 'local')}"
    model = nn.parallel.DistributedDataParallel(build_model(cfg))
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr)
    sampler = StatefulSampler(cfg, rank, world_size)
    manager = CheckpointManager(root, ckpt_cfg, rank)
    for step in range(1, cfg.steps + 1):
        index = sampler.take(cfg.batch_size)
        x = torch.sin(index[:, None] * torch.arange(1, 65) / 64)
        loss = (model(x).squeeze(-1) - x.mean(dim=1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % ckpt_cfg.interval == 0:
            manager.save(step, model.module, {"sampler": sampler.state_dict()})
            if rank == 0:
                print(f"step {step} loss {loss.item():.4f} checkpoint dispatched", flush=True)
    manager.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
