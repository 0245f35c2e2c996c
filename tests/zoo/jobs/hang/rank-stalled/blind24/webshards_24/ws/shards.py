import io
import os
import tarfile

import numpy as np


def write_shards(root, count, per_shard):
    os.makedirs(root, exist_ok=True)
    rng = np.random.default_rng(5)
    for s in range(count):
        with tarfile.open(os.path.join(root, f"part-{s:04d}.tar"), "w") as tar:
            for i in range(per_shard):
                blob = rng.integers(0, 255, 3 * 12 * 12, dtype=np.uint8).tobytes() + bytes([i % 6])
                info = tarfile.TarInfo(f"{i:06d}.bin")
                info.size = len(blob)
                tar.addfile(info, io.BytesIO(blob))


def read_shard(path):
    with tarfile.open(path) as tar:
        for member in tar:
            blob = tar.extractfile(member).read()
            yield np.frombuffer(blob[:-1], dtype=np.uint8).reshape(3, 12, 12), blob[-1]
