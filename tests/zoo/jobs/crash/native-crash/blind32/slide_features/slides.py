import zlib

import torch


class Slide:
    """Reads tiles of one slide at its own magnification (synthetic here)."""

    def __init__(self, name, level, tiles, label, tile_px):
        self.name, self.level, self.label = name, level, label
        self.px = tile_px[level]
        self.n = tiles
        self.seed = zlib.crc32(name.encode()) % 10_000

    def __len__(self):
        return self.n

    def tile(self, i):
        g = torch.Generator().manual_seed(self.seed * 7919 + i)
        return torch.rand(3, self.px, self.px, generator=g) + 0.2 * self.label
