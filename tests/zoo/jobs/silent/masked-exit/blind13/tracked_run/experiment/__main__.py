import argparse

import torch.multiprocessing as mp

from .tracking import Run
from .work import work


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--world", type=int, default=2)
    ap.add_argument("--port", type=int, default=29633)
    args = ap.parse_args()
    with Run("digits") as run:
        run.log(world=args.world)
        mp.spawn(work, (args.world, args.port, args.epochs), nprocs=args.world)


if __name__ == "__main__":
    main()
