"""Mu-law clips. Also a small tool: python -m codecs_audio.mulaw CLIP"""
import argparse
import zlib

import torch

RATE = 4000

cli = argparse.ArgumentParser(prog="mulaw")
cli.add_argument("clip", nargs="?", help="clip to expand on standard output")
cli.add_argument("--mu", type=int, default=255)
opts = cli.parse_args()


def decode(clip, seconds):
    g = torch.Generator().manual_seed(zlib.crc32(clip.encode()))
    coded = torch.randint(0, opts.mu + 1, (RATE * seconds,), generator=g).float()
    x = 2 * coded / opts.mu - 1
    return torch.sign(x) * (torch.pow(1 + opts.mu, x.abs()) - 1) / opts.mu


if __name__ == "__main__" and opts.clip:
    print(decode(opts.clip, 1).tolist())
