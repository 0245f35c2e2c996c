import argparse
import logging
import os

import torch.distributed as dist

from solver import Simulation


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--cells", type=int, default=96)
    p.add_argument("--steps", type=int, default=400)
    p.add_argument("--nu", type=float, default=0.004)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=2)
    p.add_argument("--reflux-tol", type=float, default=0.02)
    return p.parse_args()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if os.environ["RANK"] == "0" else logging.ERROR, format="%(message)s")
    Simulation(parse()).run()
    dist.barrier()
    dist.destroy_process_group()
