import argparse

import torch


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", required=True)
    ap.add_argument("--parts", type=int, default=4)
    args = ap.parse_args()
    gen = torch.Generator().manual_seed(0)
    taste = torch.randn(18, generator=gen)
    for part in range(args.parts):
        x = torch.randn(400, 18, generator=gen)
        torch.save({"x": x, "y": (x @ taste > 0).float()}, f"{args.out}/part-{part:02d}.pt")


if __name__ == "__main__":
    main()
