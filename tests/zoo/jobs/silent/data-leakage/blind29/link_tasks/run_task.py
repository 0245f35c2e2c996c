import argparse

import torch

from task import LinkPrediction


def main():
    p = argparse.ArgumentParser(description="link prediction on one graph")
    p.add_argument("--nodes", type=int, default=600)
    p.add_argument("--hidden-size", type=int, default=48)
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--weight-decay", type=float, default=1e-5)
    p.add_argument("--max-epoch", type=int, default=150)
    p.add_argument("--evaluate-interval", type=int, default=10)
    p.add_argument("--patience", type=int, default=8)
    p.add_argument("--val-ratio", type=float, default=0.1)
    p.add_argument("--test-ratio", type=float, default=0.1)
    p.add_argument("--seed", type=int, nargs="+", default=[0, 1])
    args = p.parse_args()
    torch.set_num_threads(1)
    results = []
    for seed in args.seed:
        results.append(LinkPrediction(argparse.Namespace(**{**vars(args), "seed": seed})).train()["AUC"])
    mean = sum(results) / len(results)
    print(f"test AUC over {len(results)} seeds: {mean:.4f}")


if __name__ == "__main__":
    main()
