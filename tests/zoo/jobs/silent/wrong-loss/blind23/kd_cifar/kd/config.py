import argparse


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--temperature", type=float, default=3.0)
    p.add_argument("--alpha", type=float, default=1.0, help="share of the teacher's term")
    p.add_argument("--teacher-epochs", type=int, default=4)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=0.05)
    return p.parse_args()
