import argparse
import json
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from checkpoint import CheckpointManager


def build_model(cfg):
    dims = [cfg["in_dim"]] + [cfg["hidden"]] * cfg["depth"]
    layers = []
    for a, b in zip(dims, dims[1:]):
        layers += [nn.Linear(a, b), nn.SiLU()]
    return nn.Sequential(*layers, nn.Linear(dims[-1], 1))


def build_data(cfg, in_dim):
    g = torch.Generator().manual_seed(cfg["seed"])
    x = torch.randn(cfg["n"], in_dim, generator=g)
    y = torch.sin(x[:, :3].sum(1, keepdim=True))
    return TensorDataset(x, y)


class Trainer:
    def __init__(self, cfg, max_epochs):
        torch.manual_seed(0)
        self.model = build_model(cfg["model"])
        self.optimizer = torch.optim.AdamW(self.model.parameters(), **cfg["optim"])
        self.ckpt = CheckpointManager(cfg["checkpoint"])
        self.max_epochs = max_epochs
        self.epoch = 0
        data = build_data(cfg["data"], cfg["model"]["in_dim"])
        self.sampler = DistributedSampler(data, seed=cfg["data"]["seed"])
        self.loader = DataLoader(data, cfg["data"]["batch_size"], sampler=self.sampler)

    def resume(self):
        state = self.ckpt.load()
        if state is not None:
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.epoch = state["epoch"]

    def fit(self):
        dist.barrier()
        ddp = DDP(self.model)
        while self.epoch < self.max_epochs:
            self.sampler.set_epoch(self.epoch)
            for x, y in self.loader:
                self.optimizer.zero_grad()
                loss = nn.functional.mse_loss(ddp(x), y)
                loss.backward()
                self.optimizer.step()
            self.epoch += 1
            logging.info("epoch %d loss %.4f", self.epoch, loss.item())
            self.ckpt.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "epoch": self.epoch})


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--config", required=True)
    p.add_argument("--max-epochs", type=int, default=2)
    p.add_argument("--resume", action="store_true")
    args = p.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format=f"rank {dist.get_rank()}: %(message)s")
    with open(args.config) as f:
        cfg = json.load(f)
    trainer = Trainer(cfg, args.max_epochs)
    if args.resume:
        trainer.resume()
    trainer.fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
