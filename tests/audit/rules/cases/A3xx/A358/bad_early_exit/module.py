import lightning as L
import torch

from net import Net, loss_of


class Module(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.scores = []

    def training_step(self, batch, index):
        return loss_of(self.net, batch)

    def on_validation_epoch_end(self):
        total = self.all_gather(torch.tensor(self.scores)).mean()
        if self.global_rank != 0:
            return
        self.log_dict({"score": total, "count": float(len(self.scores))})

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

