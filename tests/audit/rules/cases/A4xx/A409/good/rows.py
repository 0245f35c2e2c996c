import h5py
from torch.utils.data import DataLoader, Dataset


class Lazy(Dataset):
    def __init__(self, path):
        self.path = path
        self.file = None

    def __getitem__(self, i):
        if self.file is None:
            self.file = h5py.File(self.path, "r")
        return self.file["x"][i]


class Read(Dataset):
    def __init__(self, path):
        with h5py.File(path, "r") as file:
            self.rows = file["x"][:]

    def __getitem__(self, i):
        return self.rows[i]


class InMain(Dataset):
    def __init__(self, path):
        self.file = h5py.File(path, "r")

    def __getitem__(self, i):
        return self.file["x"][i]


class Bounded(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.files = {}

    def __getitem__(self, i):
        if len(self.files) > 16:
            self.files.popitem()[1].close()
        self.files[i] = open(self.paths[i], "rb")
        return self.files[i].read(4)


def build(path, paths):
    yield DataLoader(Lazy(path), num_workers=4)
    yield DataLoader(Read(path), num_workers=4)
    yield DataLoader(InMain(path))
    yield DataLoader(Bounded(paths), num_workers=2)
