import torch
from torch import nn
import torch.nn.functional as F


class SurrogateModule(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.net = nn.Sequential(
            nn.Linear(cfg.input_dim, cfg.hidden), nn.Tanh(), nn.Linear(cfg.hidden, 1)
        )

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch):
        x, y = batch
        return F.mse_loss(self(x), y)

    def validation_step(self, batch):
        return self.training_step(batch)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.cfg.lr)


class RingData:
    def __init__(self, cfg, rank):
        self.cfg, self.rank = cfg, rank

    def stream(self, split):
        seed = self.cfg.seed + self.rank + (500 if split == "val" else 0)
        generator = torch.Generator().manual_seed(seed)
        while True:
            x = torch.randn(self.cfg.batch_size, self.cfg.input_dim, generator=generator)
            yield x, x[:, :1] * 2 - x[:, 1:2] + 0.5
