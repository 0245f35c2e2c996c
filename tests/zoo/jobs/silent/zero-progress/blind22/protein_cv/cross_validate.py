import argparse
import tempfile

import torch
import torch.multiprocessing as mp

from cv.dataset import Peptides
from cv.fold import run_fold


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--folds", type=int, default=4)
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--jobs", type=int, default=2)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as out:
        path = f"{out}/peptides.pt"
        torch.save(Peptides(), path)
        pool = mp.get_context("spawn").Pool(args.jobs)
        for fold in range(args.folds):
            pool.apply_async(run_fold, (path, fold, args.folds, args.epochs, out))
        pool.close()
        pool.join()
        print(f"{args.folds} folds trained for {args.epochs} epochs each")


if __name__ == "__main__":
    main()
