import sys

import torch
import torch.nn.functional as F
import yaml
from torch.utils.data import DataLoader

from dataset import make_datasets
from forecaster import Forecaster


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        o = cfg["optim"]
        train, val = make_datasets(cfg)
        self.train_loader = DataLoader(train, o["batch_size"], shuffle=True, drop_last=True)
        self.val_loader = DataLoader(val, o["batch_size"])
        self.model = Forecaster(2, cfg["model"]["hidden"], cfg["model"]["layers"], cfg["window"]["horizon"])
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=o["lr"])
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 3, gamma=0.5)

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_loader:
            self.optimizer.zero_grad(set_to_none=True)
            loss = F.mse_loss(self.model(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg["optim"]["clip"])
            self.optimizer.step()
            total += loss.item()
        return total / len(self.train_loader)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        err = n = 0.0
        for x, y in self.val_loader:
            err += F.l1_loss(self.model(x), y, reduction="sum").item()
            n += y.numel()
        return err / n

    def fit(self):
        for epoch in range(self.cfg["optim"]["epochs"]):
            loss = self.train_epoch()
            self.scheduler.step()
            print(f"epoch {epoch} mse {loss:.4f} val mae {self.validate():.4f}", flush=True)
        torch.save({"model": self.model.state_dict(), "config": self.cfg}, "forecaster.pt")


if __name__ == "__main__":
    with open(sys.argv[1] if len(sys.argv) > 1 else "config.yaml") as f:
        config = yaml.safe_load(f)
    torch.manual_seed(config["series"]["seed"])
    Trainer(config).fit()
