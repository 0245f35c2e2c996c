import zlib

import torch


class LazyImage:
    """Keeps the compressed bytes; pixels are decoded when they are asked for first."""

    def __init__(self, blob, side):
        self.blob, self.side = blob, side
        self._pixels = None

    def load(self):
        if self._pixels is None:
            raw = zlib.decompress(self.blob)
            data = torch.frombuffer(bytearray(raw), dtype=torch.uint8)
            self._pixels = data.view(self.side, self.side)
        return self._pixels

    def tensor(self):
        return self.load().float().div(255).sub(0.5)

    def __getstate__(self):
        return {"pixels": self.load().numpy().tobytes(), "side": self.side}

    def __setstate__(self, state):
        self.blob, self.side = None, state["side"]
        data = torch.frombuffer(bytearray(state["pixels"]), dtype=torch.uint8)
        self._pixels = data.view(self.side, self.side)


def encode(pixels):
    return zlib.compress(pixels.numpy().tobytes())
