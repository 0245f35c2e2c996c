import lightning as L
import torch
import torch.nn.functional as F


class Tagger(L.LightningModule):
    def __init__(self, classes, rare):
        super().__init__()
        self.save_hyperparameters()
        self.net = torch.nn.Sequential(torch.nn.Linear(10, 40), torch.nn.ReLU(), torch.nn.Linear(40, classes))

    def training_step(self, batch, index):
        x, y = batch
        return F.cross_entropy(self.net(x), y)

    def validation_step(self, batch, index):
        x, y = batch
        logits = self.net(x)
        self.log("val_loss", F.cross_entropy(logits, y), on_epoch=True, sync_dist=True)
        rare = y == self.hparams.rare
        if rare.any():
            recall = (logits[rare].argmax(1) == self.hparams.rare).float().mean()
            self.log("val_recall_rare", recall, on_epoch=True, sync_dist=True)

    def on_validation_epoch_end(self):
        self.print(f"epoch {self.current_epoch} validated")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)
