import h5py
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
        self.file = h5py.File(path, "r")

    def __len__(self):
        return len(self.file["x"])

    def __getitem__(self, i):
        return self.file["x"][i]


def build(path):
    return DataLoader(Rows(path), batch_size=8, num_workers=4)
