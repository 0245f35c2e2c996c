import io
import struct
import zlib

import numpy as np
import torch
from torch.utils.data import Dataset, default_collate


def write_archive(path, count=200, seed=0):
    rng = np.random.default_rng(seed)
    with open(path, "wb") as f:
        for i in range(count):
            label = int(rng.integers(3))
            patch = (rng.normal(size=(8, 8)) * 0.5 + label).astype(np.float32)
            blob = zlib.compress(patch.tobytes())
            if i % 41 == 17:
                blob = blob[: len(blob) // 2]
            f.write(struct.pack("<II", label, len(blob)) + blob)


class PatchArchive(Dataset):
    def __init__(self, path):
        self.index = []
        with open(path, "rb") as f:
            self.data = f.read()
        stream = io.BytesIO(self.data)
        while header := stream.read(8):
            label, size = struct.unpack("<II", header)
            self.index.append((label, stream.tell(), size))
            stream.seek(size, io.SEEK_CUR)

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        label, start, size = self.index[i]
        try:
            patch = np.frombuffer(zlib.decompress(self.data[start:start + size]), dtype=np.float32)
        except zlib.error:
            return None
        return torch.from_numpy(patch.copy()), label


def collate_present(items):
    items = [item for item in items if item is not None]
    return default_collate(items)
