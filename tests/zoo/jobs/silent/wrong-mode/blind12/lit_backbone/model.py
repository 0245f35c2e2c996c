import lightning as L
import torch
from torch import nn
from torchmetrics.functional import accuracy


class Backbone(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(20, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.3),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.3),
        )

    @classmethod
    def from_file(cls, path):
        net = cls()
        net.load_state_dict(torch.load(path, weights_only=True))
        return net.eval()

    def forward(self, x):
        return self.layers(x)


class Classifier(L.LightningModule):
    def __init__(self, weights, lr=2e-3):
        super().__init__()
        self.save_hyperparameters()
        self.backbone = Backbone.from_file(weights)
        self.head = nn.Linear(96, 5)

    def forward(self, x):
        return self.head(self.backbone(x))

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        logits = self(x)
        self.log("val_acc", accuracy(logits, y, task="multiclass", num_classes=5), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
