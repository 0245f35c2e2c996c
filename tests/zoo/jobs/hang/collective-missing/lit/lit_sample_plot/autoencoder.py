import lightning as L
import torch
from torch import nn


class Autoencoder(L.LightningModule):
    def __init__(self, width=64, code=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, code))
        self.decoder = nn.Sequential(nn.Linear(code, 32), nn.ReLU(), nn.Linear(32, width))

    def forward(self, x):
        return torch.sigmoid(self.decoder(self.encoder(x)))

    def training_step(self, batch, index):
        (x,) = batch
        return nn.functional.mse_loss(self(x), x)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)
