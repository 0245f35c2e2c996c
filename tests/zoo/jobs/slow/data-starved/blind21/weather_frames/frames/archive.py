import h5py
import numpy as np

BLOCK = 32


def synthesise(hours, height, width, variables, seed):
    rng = np.random.default_rng(seed)
    y = np.linspace(0, 2 * np.pi, height)[:, None]
    x = np.linspace(0, 2 * np.pi, width)[None]
    for t in range(hours):
        base = [np.sin((v + 1) * x + 0.05 * t * (v + 1)) * np.cos(y + 0.02 * t) for v in range(variables)]
        yield (np.stack(base) + 0.05 * rng.standard_normal((variables, height, width))).astype(np.float32)


def write_archive(path, hours, height, width, variables, seed=0):
    """Writes the archive in the layout of the data service."""
    shape = (hours, variables, height, width)
    with h5py.File(path, "w") as file:
        data = file.create_dataset(
            "fields", shape, dtype="f4", chunks=(min(BLOCK, hours), 1, height, width), compression="gzip", compression_opts=1
        )
        block = []
        for t, frame in enumerate(synthesise(hours, height, width, variables, seed)):
            block.append(frame)
            if len(block) == BLOCK or t == hours - 1:
                data[t + 1 - len(block): t + 1] = np.stack(block)
                block = []
    return path


class Archive:
    """Read access to the fields; opened where it is first used, so that it may go to a worker."""

    def __init__(self, path):
        self.path, self._file = path, None

    @property
    def fields(self):
        if self._file is None:
            self._file = h5py.File(self.path, "r")
        return self._file["fields"]

    def frame(self, hour):
        return self.fields[hour]
