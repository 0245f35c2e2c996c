import zlib

import torch

RATE = 4000


def decode(clip, seconds):
    g = torch.Generator().manual_seed(zlib.crc32(clip.encode()))
    return torch.rand(RATE * seconds, generator=g) * 2 - 1
