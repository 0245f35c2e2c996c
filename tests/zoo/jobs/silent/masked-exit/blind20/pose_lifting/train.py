import logging

import torch
import torch.distributed as dist
import yaml
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from pose.lifter import Lifter
from pose.skeletons import Skeletons
from pose.steps import GuardedStep
from pose.transforms import Sequence, Standardize


def main():
    logging.basicConfig(level=logging.INFO)
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    dataset = Skeletons(cfg["poses"], cfg["seed"], Sequence(Standardize(**cfg["camera"])))
    sampler = DistributedSampler(dataset, seed=cfg["seed"])
    loader = DataLoader(dataset, cfg["batch_size"], sampler=sampler, drop_last=True)
    torch.manual_seed(cfg["seed"])
    model = DDP(Lifter(Skeletons.JOINTS, **cfg["model"]))
    step = GuardedStep(model, torch.optim.AdamW(model.parameters(), lr=cfg["lr"]))
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        losses = [step(points, depth) for points, depth in loader]
        losses = [loss for loss in losses if loss is not None]
        if rank == 0 and losses:
            print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}", flush=True)
    if rank == 0:
        torch.save(model.module.state_dict(), cfg["out"])
        print("saved", cfg["out"], flush=True)
    dist.barrier()


if __name__ == "__main__":
    main()
