import argparse
import os
from pathlib import Path

import h5py
import torch

from ups_io.encoder import GridEncoder


def encode_sample(encoder, fields, device, dtype):
    with torch.no_grad():
        x = torch.from_numpy(fields).to(device)
        return encoder(x).to(dtype)


def write_sample(path, latent, params):
    tmp = path.with_suffix(".tmp")
    torch.save({"latent": latent, "params": params}, tmp)
    os.replace(tmp, path)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--file", required=True)
    p.add_argument("--cache-dir", default="data/latent_cache")
    p.add_argument("--device", default="cuda")
    args = p.parse_args()
    device = torch.device("cuda" if args.device == "cuda" else "cpu")
    torch.manual_seed(17)
    encoder = GridEncoder(1, 128, 64).to(device).eval()
    root = Path(args.cache_dir)
    root.mkdir(parents=True, exist_ok=True)
    with h5py.File(args.file, "r") as f:
        for i in range(f["data"].shape[0]):
            latent = encode_sample(encoder, f["data"][i], device, torch.float16)
            write_sample(root / f"sample_{i:05d}.pt", latent, None)


if __name__ == "__main__":
    main()
