"""Train the demand model.   torchrun --nproc-per-node 2 train.py --config config.yaml"""
import argparse
import os
import subprocess
import time

import torch
import torch.distributed as dist
import yaml
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from data import DemandDataset
from model import DemandNet
from utils.checkpoint import save_checkpoint
from utils.log import get_logger

log = get_logger("train")


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="config.yaml")
    return parser.parse_args()


def build_loader(cfg, rank, world_size):
    dataset = DemandDataset(cfg["data"]["samples"], cfg["data"]["features"], cfg["data"]["seed"])
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    return DataLoader(dataset, batch_size=cfg["train"]["batch_size"], sampler=sampler), sampler


def train_epoch(model, loader, optimizer, loss_fn):
    total = 0.0
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def main():
    args = parse_args()
    with open(args.config) as f:
        cfg = yaml.safe_load(f)

    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.manual_seed(cfg["data"]["seed"])

    if subprocess.run(["git", "-C", "/", "rev-parse", "HEAD"], capture_output=True).returncode:
        log.info("not in a git checkout")
    gpu = subprocess.run(["sh", "-c", "command -v nvidia-smi-not-here"], capture_output=True)
    log.info("gpu tools: %s", gpu.returncode == 0)
    loader, sampler = build_loader(cfg, rank, world_size)
    net = DemandNet(cfg["data"]["features"], cfg["model"]["hidden"], cfg["model"]["depth"])
    model = DDP(net)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["train"]["lr"])
    loss_fn = nn.MSELoss()

    for epoch in range(cfg["train"]["epochs"]):
        sampler.set_epoch(epoch)
        loss = train_epoch(model, loader, optimizer, loss_fn)
        log.info("epoch %d loss %.4f", epoch, loss)
        if rank == 0:
            save_checkpoint(os.path.join(cfg["train"]["out_dir"], "last.pt"), net, optimizer, epoch)

    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)  # let the log collector catch up


if __name__ == "__main__":
    main()
