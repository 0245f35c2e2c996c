import h5py
import numpy
from torch.utils.data import DataLoader, Dataset


class Shards(Dataset):
    """Each worker opens what it reads."""

    def __init__(self, paths):
        self.paths = paths
        self.handles = {}

    def __getitem__(self, i):
        path = self.paths[i % len(self.paths)]
        if path not in self.handles:
            self.handles.clear()
            self.handles[path] = h5py.File(path, "r")
        return self.handles[path]["x"][i]


class Counted(Dataset):
    """The files are closed again before a worker starts."""

    def __init__(self, paths):
        self.paths = paths
        self.files = [h5py.File(path, "r") for path in paths]
        self.lengths = [len(one["x"]) for one in self.files]
        for one in self.files:
            one.close()

    def __getitem__(self, i):
        if not self.files[0]:
            self.files = [h5py.File(path, "r") for path in self.paths]
        return self.files[i % len(self.paths)]["x"][i]


class Whole(Dataset):
    """What is read whole is an array of its own."""

    def __init__(self, paths):
        self.parts = [h5py.File(path, "r")["x"][:] for path in paths]
        self.scale = h5py.File(paths[0], "r")["scale"][()]
        self.arrays = numpy.concatenate([h5py.File(path, "r")["y"][...] for path in paths])

    def __getitem__(self, i):
        return self.parts[i % len(self.parts)][i] * self.scale + self.arrays[i]


class InMain(Dataset):
    def __init__(self, paths):
        self.files = [h5py.File(path, "r") for path in paths]

    def __getitem__(self, i):
        return self.files[0]["x"][i]


class Pickled(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.files = [h5py.File(path, "r") for path in paths]

    def __getstate__(self):
        return {"paths": self.paths}

    def __getitem__(self, i):
        return self.files[0]["x"][i]


def main(paths):
    yield DataLoader(Shards(paths), num_workers=4)
    yield DataLoader(Counted(paths), num_workers=4)
    yield DataLoader(Whole(paths), num_workers=4)
    yield DataLoader(InMain(paths))
    yield DataLoader(Pickled(paths), num_workers=4, multiprocessing_context="spawn")
