import lightning as L
import torch


class Tagger(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 2)

    def training_step(self, batch, index):
        x, y, languages = batch
        losses = torch.nn.functional.cross_entropy(self.net(x), y, reduction="none")
        return losses.mean()

    def validation_step(self, batch, index):
        x, y, languages = batch
        losses = torch.nn.functional.cross_entropy(self.net(x), y, reduction="none")
        for language in set(languages):  # cause
            rows = [i for i, one in enumerate(languages) if one == language]
            self.log(f"val/{language}", losses[rows].mean(), sync_dist=True)  # cause

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


if __name__ == "__main__":
    L.Trainer(devices=2, strategy="ddp").fit(Tagger())
