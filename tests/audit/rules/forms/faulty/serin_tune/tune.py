import argparse
import json

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import TensorDataset

from runner import Runner


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--rates", type=float, nargs="+", default=[1e-4, 1e-3, 1e-2])
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--out", default="tuned.json")
    args = ap.parse_args()
    blob = torch.load(args.data, map_location="cpu", weights_only=True)
    cut = int(0.8 * len(blob["x"]))
    train = TensorDataset(blob["x"][:cut], blob["y"][:cut])
    val = TensorDataset(blob["x"][cut:], blob["y"][cut:])
    width, classes = blob["x"].size(1), int(blob["y"].max()) + 1
    table = {}
    for lr in args.rates:  # cause
        runner = Runner(lambda: nn.Sequential(nn.Linear(width, 300), nn.ReLU(), nn.Linear(300, classes)), train, val, lr)  # cause
        table[lr] = runner.fit(args.epochs).score()
    if runner.chief:
        best = max(table, key=table.get)
        with open(args.out, "w") as f:
            json.dump({"best": best, "all": {str(k): v for k, v in table.items()}}, f)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
