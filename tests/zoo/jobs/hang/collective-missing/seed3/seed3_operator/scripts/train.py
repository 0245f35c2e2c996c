"""Operator, diffusion residual, consistency distillation: three stages on one latent data set.

    torchrun --nproc-per-node 2 scripts/train.py --config configs/train.yaml [--stage all]
"""
import argparse
import json
import logging
import os
import sys
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import yaml
from torch.nn.parallel import DistributedDataParallel as DDP

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stack.data import latent_pairs
from stack.losses import chunked_distill
from stack.memory import is_oom
from stack.models import DiffusionResidual, LatentOperator

log = logging.getLogger("train")


def setup_distributed():
    dist.init_process_group("gloo", timeout=timedelta(minutes=30))
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(name)s %(message)s")
    torch.manual_seed(17)
    return torch.device("cpu"), rank, world


def train_operator(cfg, device, rank, world):
    operator = DDP(LatentOperator(cfg["latent"]["dim"]).to(device))
    optimizer = torch.optim.AdamW(operator.parameters(), lr=cfg["operator"]["lr"])
    for epoch in range(cfg["operator"]["epochs"]):
        for i, (state, target, dt) in enumerate(latent_pairs(cfg, "operator", epoch, rank)):
            optimizer.zero_grad(set_to_none=True)
            try:
                loss = (operator(state, dt) - target).square().mean()
                loss.backward()
            except RuntimeError as error:
                if not is_oom(error):
                    raise
                if rank == 0:
                    log.warning("OOM in operator step, skipping batch %d", i)
                skip_flag = torch.tensor(1, device=device)
                dist.broadcast(skip_flag, src=0)  # operator: the others skip it as well
                continue
            torch.nn.utils.clip_grad_norm_(operator.parameters(), 1.0)
            optimizer.step()
        log.info("operator epoch %d loss %.4f", epoch, loss.item())
    return operator.module


def train_diffusion(cfg, operator, device, rank, world):
    operator.eval()
    diffusion = DDP(DiffusionResidual(cfg["latent"]["dim"]).to(device))
    optimizer = torch.optim.AdamW(diffusion.parameters(), lr=cfg["diffusion"]["lr"])
    for epoch in range(cfg["diffusion"]["epochs"]):
        for i, (state, target, dt) in enumerate(latent_pairs(cfg, "diffusion", epoch, rank)):
            try:
                with torch.no_grad():
                    predicted = operator(state, dt)
            except RuntimeError as teacher_error:
                if not is_oom(teacher_error):
                    raise
                if rank == 0:
                    log.warning("OOM in teacher forward, skipping batch %d", i)
                skip_flag = torch.tensor(1, device=device)
                dist.broadcast(skip_flag, src=0)  # teacher: the others skip it as well
                continue
            optimizer.zero_grad(set_to_none=True)
            try:
                tau = torch.rand(1)
                drift = diffusion(predicted, tau)
                loss = (drift - (target - predicted)).square().mean()
                loss.backward()
            except RuntimeError as step_error:
                if not is_oom(step_error):
                    raise
                if rank == 0:
                    log.warning("OOM in diffusion step, skipping batch %d", i)
                skip_flag = torch.tensor(1, device=device)
                dist.broadcast(skip_flag, src=0)  # diffusion: the others skip it as well
                continue
            optimizer.step()
        log.info("diffusion epoch %d loss %.4f", epoch, loss.item())
    return diffusion.module


def train_consistency(cfg, operator, teacher, device, rank, world):
    teacher.eval()
    student = DDP(DiffusionResidual(cfg["latent"]["dim"]).to(device))
    student.module.load_state_dict(teacher.state_dict())
    optimizer = torch.optim.AdamW(student.parameters(), lr=cfg["consistency"]["lr"])
    for epoch in range(cfg["consistency"]["epochs"]):
        for i, (state, _, dt) in enumerate(latent_pairs(cfg, "consistency", epoch, rank)):
            optimizer.zero_grad(set_to_none=True)
            try:
                distilled = chunked_distill(operator, teacher, student, state, dt, cfg["consistency"]["chunk"])
                distilled.backward()
            except RuntimeError as chunk_error:
                if not is_oom(chunk_error):
                    raise
                if rank == 0:
                    log.warning("OOM in distillation, skipping batch %d", i)
                skip_flag = torch.tensor(1, device=device)
                dist.broadcast(skip_flag, src=0)  # consistency: the others skip it as well
                continue
            optimizer.step()
        log.info("consistency epoch %d loss %.4f", epoch, distilled.item())


def write_tracker_info(rank):
    path = os.environ.get("FAST_TO_SOTA_WANDB_INFO")
    if rank == 0 and path:
        Path(path).write_text(json.dumps({"id": "train-20251115_025031", "state": "running"}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="configs/train.yaml")
    args = parser.parse_args()
    with open(args.config) as f:
        cfg = yaml.safe_load(f)
    device, rank, world = setup_distributed()
    write_tracker_info(rank)
    operator = train_operator(cfg, device, rank, world)
    teacher = train_diffusion(cfg, operator, device, rank, world)
    train_consistency(cfg, operator, teacher, device, rank, world)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
