import argparse


def parse():
    p = argparse.ArgumentParser("byte level language model with a length curriculum")
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--steps-per-epoch", type=int, default=60)
    p.add_argument("--documents", type=int, default=1500)
    p.add_argument("--seq-len", type=int, default=48)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--vocab", type=int, default=96)
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--min-lengths", type=int, nargs="+", default=[0, 0, 900, 1200])
    p.add_argument("--workdir", default="packed")
    p.add_argument("--seed", type=int, default=5)
    return p.parse_args()
