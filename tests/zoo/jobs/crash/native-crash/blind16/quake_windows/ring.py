import numpy as np


def write_record(path, channels, frames, seed):
    g = np.random.default_rng(seed)
    x = g.normal(size=(frames, channels)).cumsum(0).astype(np.float32)
    x.tofile(path)


class WindowView:
    """Overlapping windows over a record on disk, without a copy."""

    def __init__(self, path, channels, length, hop):
        self.raw = np.memmap(path, dtype=np.float32, mode="r")
        self.channels, self.length, self.hop = channels, length, hop
        self.n = (self.raw.size - length) // hop + 1
        f = self.raw.itemsize
        self.win = np.lib.stride_tricks.as_strided(
            self.raw, (self.n, length, channels), (hop * channels * f, channels * f, f))

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        return np.array(self.win[k])
