import logging
import struct

import torch
from torch.utils.data import Dataset

log = logging.getLogger("records")


def pack(values, label):
    return struct.pack("<I", len(values)) + struct.pack(f"<{len(values)}fB", *values, label)


class Corrupt(ValueError):
    pass


def unpack(blob):
    (n,) = struct.unpack_from("<I", blob)
    if len(blob) != 4 + 4 * n + 1:
        raise Corrupt(f"{len(blob)} bytes for {n} values")
    *values, label = struct.unpack_from(f"<{n}fB", blob, 4)
    return torch.tensor(values), label


class Blobs(Dataset):
    """A few records of the store are cut short; those are replaced by their neighbours."""

    def __init__(self, n=1440, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.blobs = []
        for i in range(n):
            x = torch.randn(10, generator=g)
            blob = pack(x.tolist(), int(x[0] + x[1] * x[2] > 0))
            self.blobs.append(blob[:-9] if i % 181 == 7 else blob)

    def __len__(self):
        return len(self.blobs)

    def __getitem__(self, i):
        for k in range(5):
            try:
                return unpack(self.blobs[(i + k) % len(self)])
            except Corrupt as e:
                log.debug("record %d: %s", i + k, e)
        raise RuntimeError(f"five broken records from {i} on")
