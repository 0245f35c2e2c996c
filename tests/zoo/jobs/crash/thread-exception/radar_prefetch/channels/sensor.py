import numpy as np


class Sensor:
    def __init__(self, rank, frames=120, bins=32):
        rng = np.random.default_rng(rank)
        self.raw = [rng.normal(size=bins).astype(np.float32).tobytes() for _ in range(frames)]
        if rank == 1:
            self.raw[37] = self.raw[37][:-2]

    def stream(self):
        for frame in self.raw:
            yield np.frombuffer(frame, dtype=np.float32)
