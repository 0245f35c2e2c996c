import struct

import torch


def record(rank, index):
    count = 24
    values = [((index * 7 + j * 3 + rank) % 17) / 17 for j in range(count)]
    blob = struct.pack(f"<I{count}f", count, *values)
    if rank == 1 and index == 37:
        blob = blob[:-5]
    return blob


def decode(blob):
    (count,) = struct.unpack_from("<I", blob)
    return torch.tensor(struct.unpack_from(f"<{count}f", blob, 4))


def frames(rank, total):
    for index in range(total):
        frame = decode(record(rank, index))
        yield frame[:-1], frame[-1:]


def batches(rank, total, size):
    xs, ys = [], []
    for x, y in frames(rank, total):
        xs.append(x)
        ys.append(y)
        if len(xs) == size:
            yield torch.stack(xs), torch.stack(ys)
            xs, ys = [], []
