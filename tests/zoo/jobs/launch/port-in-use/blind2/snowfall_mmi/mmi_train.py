import argparse
import logging
import os
import sys

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from snowfall.data import Utterances
from snowfall.dist import cleanup_dist, setup_dist
from snowfall.graphs import forward_score, make_denominator

PHONES = 12


def get_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--world-size", type=int, default=1)
    parser.add_argument("--local-rank", type=int, default=0)
    parser.add_argument("--master-port", type=int, default=None)
    parser.add_argument("--lm", choices=["monophone", "bigram"], default="bigram")
    parser.add_argument("--exp-dir", required=True)
    parser.add_argument("--epochs", type=int, default=4)
    return parser


def mmi_loss(log_probs, ali, den):
    numerator = log_probs.gather(2, ali[..., None]).sum((1, 2))
    return (forward_score(log_probs, den) - numerator).mean() / log_probs.shape[1]


def setup_logger(exp_dir):
    os.makedirs(exp_dir, exist_ok=True)
    handlers = [logging.FileHandler(os.path.join(exp_dir, "log")), logging.StreamHandler(sys.stdout)]
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", handlers=handlers)


def main():
    args = get_parser().parse_args()
    setup_dist(rank=args.local_rank, world_size=args.world_size, master_port=args.master_port)
    setup_logger(args.exp_dir)
    torch.manual_seed(42)
    logging.info("training %s, %d epochs", args.lm, args.epochs)
    model = DDP(nn.Sequential(nn.Linear(PHONES, 32), nn.ReLU(), nn.Linear(32, PHONES), nn.LogSoftmax(-1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    data, den = Utterances(30, 4, 20, PHONES), make_denominator(args.lm, PHONES)
    for epoch in range(args.epochs):
        for feats, ali in data.epoch(epoch):
            loss = mmi_loss(model(feats), ali, den)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        logging.info("%s epoch %d objf %.4f", args.lm, epoch, loss.item())
    cleanup_dist()


if __name__ == "__main__":
    main()
