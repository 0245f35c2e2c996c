import argparse

import torch.distributed as dist

from histo.engine import Engine


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--slides", type=int, default=32)
    p.add_argument("--patches", type=int, default=24)
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--width", type=int, default=12)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=21)
    p.add_argument("--cache-dir", default=".artifacts")
    return p.parse_args()


def main():
    cfg = parse()
    dist.init_process_group("gloo")
    engine = Engine(cfg, dist.get_rank(), dist.get_world_size())
    engine.setup()
    engine.fit()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
