"""Clips in shards; old ones are compressed, new ones are not."""
import struct
import zlib

import torch
from torch.utils.data import Dataset

from limits import DecodeTimeout, time_limit


def make_shard(rank, clips=96, old=12):
    """Bytes as they lie on disk."""
    shard = []
    for number in range(clips):
        raw = struct.pack("16f", *[((number * 7 + i * 3 + rank) % 11) / 11 for i in range(16)])
        shard.append(b"z" + zlib.compress(raw) if number < old else b"r" + raw)
    if rank == 1:
        shard[old - 1] = shard[old - 1][:20]
    return shard


class ClipDataset(Dataset):
    def __init__(self, shard, limit=2.0):
        self.shard = shard
        self.limit = limit
        self.skipped = 0

    def __len__(self):
        return len(self.shard)

    def decode(self, record):
        kind, body = record[:1], record[1:]
        if kind == b"r":
            return body
        with time_limit(self.limit):
            return zlib.decompress(body)

    def __getitem__(self, index):
        try:
            raw = self.decode(self.shard[index])
        except (zlib.error, DecodeTimeout):
            self.skipped += 1
            raw = bytes(64)
        return torch.tensor(struct.unpack("16f", raw))
