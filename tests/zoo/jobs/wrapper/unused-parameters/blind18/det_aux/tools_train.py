import argparse
import logging

import torch
import torch.distributed as dist

from mini.detector import Detector
from mini.engine import EpochHook, Runner


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--dim", type=int, default=24)
    p.add_argument("--classes", type=int, default=6)
    p.add_argument("--images", type=int, default=320)
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--detach-epoch", type=int, default=3)
    return p.parse_args()


if __name__ == "__main__":
    cfg = parse()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    Runner(Detector(cfg), cfg, [EpochHook()]).run()
    dist.destroy_process_group()
