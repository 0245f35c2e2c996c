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
        self.log("score", total)
        if self.trainer.is_global_zero:
            self.log("seconds", 3.0, rank_zero_only=True)
            self.logger.experiment.log({"score": total})

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

