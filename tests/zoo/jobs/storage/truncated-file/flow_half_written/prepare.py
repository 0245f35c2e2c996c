"""Encode all trajectories once: python prepare.py [--dim 16]"""
import argparse
import pathlib

import torch


def encode(trajectories, dim):
    basis = torch.linspace(0, 1, trajectories.shape[-1])[:, None] ** torch.arange(dim)[None]
    return trajectories @ basis / trajectories.shape[-1]


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--dim", type=int, default=16)
    ap.add_argument("--out", default="cache/latents")
    ap.add_argument("--files", type=int, default=4)
    args = ap.parse_args()
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    for i in range(args.files):
        g = torch.Generator().manual_seed(i)
        latents = encode(torch.randn(16, 8, 64, generator=g), args.dim)
        torch.save({"latents": latents, "dt": 0.01}, out / f"traj_{i:03d}.pt")
    print(f"wrote {args.files} files to {out}")
