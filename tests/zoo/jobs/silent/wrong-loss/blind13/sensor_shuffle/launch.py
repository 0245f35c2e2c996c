import argparse
import os
import tempfile

import torch.distributed as dist
import torch.multiprocessing as mp


def main(rank, world, store, epochs):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    from engine import Engine
    Engine(rank, world, epochs).run()
    dist.destroy_process_group()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--world", type=int, default=2)
    ap.add_argument("--epochs", type=int, default=5)
    a = ap.parse_args()
    folder = tempfile.mkdtemp()
    mp.spawn(main, (a.world, os.path.join(folder, "store"), a.epochs), nprocs=a.world)
