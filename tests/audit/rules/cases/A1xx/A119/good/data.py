from lightning.pytorch import LightningDataModule
from torch.utils.data import DataLoader


class Words(LightningDataModule):
    def __init__(self, path):
        super().__init__()
        self.path = path
        self.size = 8

    def prepare_data(self):
        self.folder = download(self.path)  # nobody else reads it
        self.size = 8
        self.words = self._read()
        return self.folder

    def setup(self, stage):
        self.words = self._read()

    def _read(self):
        self.opened = self.path
        return open(self.path).read().split()

    def train_dataloader(self):
        print(self.opened)
        return DataLoader(self.words, batch_size=self.size)


class Plain:
    def prepare_data(self):
        self.data = download("plain")

    def batches(self):
        return self.data


def download(path): ...
