import lightning as L
import torch
from lightning.pytorch.utilities import rank_zero_only

from net import Net, loss_of


class Module(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.scores = []

    def training_step(self, batch, index):
        return loss_of(self.net, batch)

    def on_validation_epoch_end(self):
        self.report(self.all_gather(torch.tensor(self.scores)).mean())

    @rank_zero_only
    def report(self, total):
        self.log("score", total)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

