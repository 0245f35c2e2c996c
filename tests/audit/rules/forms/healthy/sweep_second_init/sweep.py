import argparse
import itertools
import json
from pathlib import Path

import torch.distributed as dist

from objective import train

GRID = {"lr": [1e-4, 3e-4, 1e-3], "width": [128, 256], "dropout": [0.0, 0.2]}


def trials():
    keys = list(GRID)
    for values in itertools.product(*GRID.values()):
        yield dict(zip(keys, values))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", type=Path, default=Path("sweep.jsonl"))
    p.add_argument("--epochs", type=int, default=3)
    args = p.parse_args()
    dist.init_process_group("gloo")
    best = None
    for index, params in enumerate(trials()):
        score, chief = train(params, epochs=args.epochs)
        if best is None or score > best[0]:
            best = (score, params)
        if chief:
            with args.out.open("a") as fh:
                fh.write(json.dumps({"trial": index, "score": score, **params}) + "\n")
    if chief:
        print("best", best)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
