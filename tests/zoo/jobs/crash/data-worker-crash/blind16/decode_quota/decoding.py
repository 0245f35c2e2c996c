import resource
import zlib

import numpy as np
from torch.utils.data import Dataset, get_worker_info


class PackedFrames(Dataset):
    """Frames kept compressed in memory; decoded and resampled on access."""

    def __init__(self, rank, n, size, passes):
        g = np.random.default_rng(rank)
        self.blobs = [zlib.compress((g.random((size, size)) * 16).astype(np.uint8).tobytes(), 1) for _ in range(n)]
        self.size, self.passes = size, passes

    def __len__(self):
        return len(self.blobs)

    def __getitem__(self, i):
        f = np.frombuffer(zlib.decompress(self.blobs[i]), np.uint8).reshape(self.size, self.size).astype(np.float32)
        for _ in range(self.passes):
            f = 0.25 * (np.roll(f, 1, 0) + np.roll(f, -1, 0) + np.roll(f, 1, 1) + np.roll(f, -1, 1))
        small = f.reshape(32, self.size // 32, 32, self.size // 32).mean((1, 3))
        return small[None], np.float32(small[:16].mean() > small[16:].mean())


class WorkerPolicy:
    """Bounds set in every decoding worker, so that a bad file cannot wedge it."""

    def __init__(self, cpu_seconds, nice_stack_mb=64):
        self.cpu_seconds = cpu_seconds
        self.stack = nice_stack_mb << 20

    def __call__(self, worker_id):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
        resource.setrlimit(resource.RLIMIT_CPU, (used + self.cpu_seconds, used + self.cpu_seconds + 5))
        get_worker_info().dataset.worker = worker_id
