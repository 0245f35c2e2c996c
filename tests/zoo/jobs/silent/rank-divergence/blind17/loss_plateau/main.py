import argparse
import json
import logging
import os

import torch
import torch.distributed as dist

from wind.data import loaders
from wind.loop import Loop


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default="configs/run.json")
    cfg = json.load(open(ap.parse_args().config))
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO)
    loop = Loop(cfg, loaders(cfg, rank, world), rank, logging.getLogger("wind"))
    loop.fit()
    if os.environ.get("PROBE"):
        print("PROBE", rank, loop.opt.param_groups[0]["lr"], sum(p.double().sum().item() for p in loop.model.parameters()))
    if rank == 0:
        torch.save(loop.model.module.state_dict(), "wind.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
