import struct

import torch


def encode(values):
    return struct.pack(f"<I{len(values)}f", len(values), *values)


def decode(blob):
    (n,) = struct.unpack_from("<I", blob)
    return torch.tensor(struct.unpack_from(f"<{n}f", blob, 4))


class Shard:
    def __init__(self, index, records=640):
        g = torch.Generator().manual_seed(index)
        rows = torch.randn(records, 9, generator=g)
        rows[:, 8] = rows[:, :8].sum(1)
        self.blobs = [encode(r.tolist()) for r in rows]
        if index == 1:
            for k in range(320, 336):
                self.blobs[k] = self.blobs[k][:20]

    def batches(self, size=16):
        for i in range(0, len(self.blobs), size):
            yield self.blobs[i:i + size]


def safe(fn, attempts=2):
    def wrapped(*args):
        for _ in range(attempts):
            try:
                return fn(*args)
            except Exception:
                continue
        return None
    return wrapped


@safe
def collate(blobs):
    rows = torch.stack([decode(b) for b in blobs])
    return rows[:, :8], rows[:, 8:]
