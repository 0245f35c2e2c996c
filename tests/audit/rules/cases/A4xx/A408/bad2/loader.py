from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __init__(self, count, transform=None):
        self.count = count
        self.transform = transform

    def __getitem__(self, i):
        return self.transform(i)


def build(count):
    return Waves(count, transform=lambda x: x * 2)


def make_loader(count):
    return DataLoader(build(count), num_workers=2, multiprocessing_context="spawn", collate_fn=lambda batch: batch)
