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
        mean = self.all_gather(torch.tensor(self.scores)).mean()
        if torch.distributed.get_rank() == 0:
            self.log("val_score", mean)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max")
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": plateau, "monitor": "val_score"}}

