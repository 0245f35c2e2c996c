import numpy as np


class Recording:
    """A drive with a radar: a cube of range and azimuth a frame."""

    def __init__(self, name, frames, seed, firmware):
        self.name, self.frames, self.seed, self.firmware = name, frames, seed, firmware

    def read(self, index):
        rng = np.random.default_rng((self.seed, index))
        cube = rng.random((16, 16), dtype=np.float32)
        frame = {"cube": cube, "timestamp": index * 0.05, "occupied": (cube[::2, ::2] > 0.5).astype(np.float32)}
        if not (self.firmware >= 2 and index % 97 == 61):
            frame["doppler"] = np.gradient(cube, axis=0).astype(np.float32)
        return frame


def drives(cfg):
    return [Recording(f"drive{i}", cfg["frames"], cfg["seed"] + i, firmware=1 + (i % 2) * (i > 2))
            for i in range(cfg["drives"])]
