import logging
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

from checkpointer import Checkpointer, barrier
from config import TrainConfig

log = logging.getLogger("train")


def get_global_rank():
    return dist.get_rank()


def batches(cfg, start):
    teacher = torch.randn(cfg.features, 4, generator=torch.Generator().manual_seed(1))
    world, rank = dist.get_world_size(), get_global_rank()
    for step in range(start, cfg.max_steps):
        g = torch.Generator().manual_seed(cfg.seed + step)
        x = torch.randn(cfg.batch_size * world, cfg.features, generator=g)
        part = x[rank * cfg.batch_size : (rank + 1) * cfg.batch_size]
        yield step + 1, part, (part @ teacher).argmax(dim=1)


class Trainer:
    def __init__(self, cfg, model, optimizer, checkpointer):
        self.cfg, self.model, self.optimizer, self.checkpointer = cfg, model, optimizer, checkpointer
        self.start_step = 0

    def fit(self):
        for step, x, y in batches(self.cfg, self.start_step):
            loss = nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if step % self.cfg.log_interval == 0:
                shown = loss.detach().clone()
                dist.all_reduce(shown)
                log.info("[step=%d/%d] loss=%.4f", step, self.cfg.max_steps, shown.item() / dist.get_world_size())
            if step % self.cfg.save_interval == 0:
                path = self.checkpointer.save(step, self.model.module, self.optimizer)
                log.info("saved %s", path)


def main(cfg):
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if get_global_rank() == 0 else logging.WARNING)
    torch.manual_seed(cfg.seed)
    net = nn.Sequential(nn.Linear(cfg.features, 64), nn.ReLU(), nn.Linear(64, 4))
    model = DDP(net)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    trainer = Trainer(cfg, model, optimizer, Checkpointer(cfg.save_folder))

    if get_global_rank() == 0:
        log.info("Configuration:")
        log.info(cfg)
        if cfg.allow_resume:
            last = trainer.checkpointer.latest()
            if last is not None:
                log.info("resuming from %s", last)
                trainer.start_step = trainer.checkpointer.restore(last, model.module, optimizer)
    barrier()
    trainer.fit()
    barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(TrainConfig.load(sys.argv[1], sys.argv[2:]))
