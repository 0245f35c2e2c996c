import pytorch_lightning as pl
from torch.utils.data import DataLoader, TensorDataset


class Base(pl.LightningDataModule):
    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=8)


class Numbers(Base):
    def prepare_data(self):
        self.train_set = TensorDataset(read("numbers"))


class Net(pl.LightningModule):
    def prepare_data(self):
        self.classes: int = count("classes")

    def training_step(self, batch, number):
        return self.layer(batch).view(-1, self.classes).mean()


def read(path): ...


def count(path): ...
