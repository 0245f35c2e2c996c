import argparse

import torch
from torch import nn
from torch.utils.data import TensorDataset

from contrastive import ContrastiveTrainer
from setup_env import setup_distributed, teardown


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("table")
    ap.add_argument("--epochs", type=int, default=50)
    ap.add_argument("--seed", type=int, default=5)
    args = ap.parse_args()
    local_rank = setup_distributed(args.seed)
    try:
        x = torch.load(args.table, map_location="cpu")
        encoder = nn.Sequential(nn.Linear(x.size(1), 512), nn.ReLU(), nn.Linear(512, 128))
        trainer = ContrastiveTrainer(encoder, TensorDataset(x), local_rank)  # cause
        trainer.fit(args.epochs)
    finally:
        teardown()


if __name__ == "__main__":
    main()
