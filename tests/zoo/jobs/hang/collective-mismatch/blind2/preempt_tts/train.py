import argparse
import logging
import os
import time

import torch
import torch.distributed as dist
import yaml
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from checkpointing import Checkpointer
from preempt import PreemptionGuard

logger = logging.getLogger("train")


def build(cfg):
    blocks = []
    for _ in range(cfg["layers"]):
        blocks += [nn.Linear(cfg["dim"], cfg["dim"]), nn.GELU(), nn.LayerNorm(cfg["dim"])]
    return nn.Sequential(*blocks, nn.Linear(cfg["dim"], 1))


def batches(cfg, dim, seed):
    g = torch.Generator().manual_seed(seed)
    while True:
        x = torch.randn(cfg["batch_size"], dim, generator=g)
        time.sleep(cfg["frame_cost"])
        yield x, x[:, :4].sum(1, keepdim=True)


class Trainer:

    def __init__(self, cfg, run_dir):
        self.cfg = cfg
        self.rank = dist.get_rank()
        torch.manual_seed(0)
        self.model = DDP(build(cfg["model"]))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg["optim"]["lr"])
        self.checkpointer = Checkpointer(run_dir)
        self.guard = PreemptionGuard()
        self.guard.publish_pid(run_dir, self.rank)
        self.step = 0

    def state(self):
        return {"model": self.model.module.state_dict(), "optimizer": self.optimizer.state_dict(), "step": self.step}

    def train_step(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self):
        train_cfg = self.cfg["train"]
        for x, y in batches(self.cfg["data"], self.cfg["model"]["dim"], seed=self.rank):
            loss = self.train_step(x, y)
            self.step += 1
            if self.step % train_cfg["log_freq"] == 0 and self.rank == 0:
                logger.info("step %d loss %.4f", self.step, loss)
            if self.guard.requested:
                path = self.checkpointer.save(self.state(), self.step)
                logger.info("saved %s, leaving", path)
                return
            if self.step % train_cfg["ckpt_freq"] == 0:
                self.checkpointer.save(self.state(), self.step)
            if self.step >= train_cfg["max_steps"]:
                break
        self.checkpointer.save(self.state(), self.step)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="tts.yaml")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format=f"[rank{os.environ['RANK']}] %(message)s")
    with open(args.config) as f:
        cfg = yaml.safe_load(f)
    dist.init_process_group("gloo")
    Trainer(cfg, os.environ["RUN_DIR"]).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
