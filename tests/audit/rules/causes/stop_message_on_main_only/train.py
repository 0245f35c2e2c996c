import lightning.pytorch as pl
import torch
from torch.utils.data import DataLoader, TensorDataset

from controller import TrainingController


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    x = torch.randn(256, 8)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16)
    trainer = pl.Trainer(devices=2, strategy="ddp", max_epochs=100, callbacks=[TrainingController("tcp://127.0.0.1:9001")])
    trainer.fit(Net(), loader)


if __name__ == "__main__":
    main()
