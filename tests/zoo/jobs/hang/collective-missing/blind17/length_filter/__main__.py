import argparse
import logging

import torch.distributed as dist

from data.module import DataModule
from engine import Engine


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch", type=int, default=20)
    ap.add_argument("--epochs", type=int, default=4)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO)
    Engine(DataModule(dist.get_rank(), dist.get_world_size(), args.batch), args.epochs).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
