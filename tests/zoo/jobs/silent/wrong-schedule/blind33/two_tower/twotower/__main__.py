import argparse
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from .model import TwoTower
from .trainer import Trainer


@dataclass
class Config:
    users: int = 400
    items: int = 300
    batch_size: int = 256
    epochs: int = 18
    lr: float = 1e-1
    gamma: float = 0.85
    grad_clip: float = 5.0
    mixed_precision: bool = True
    scheduler_after_epoch: bool = True


def ratings(config, n=24000, seed=3):
    g = torch.Generator().manual_seed(seed)
    u, v = torch.randn(config.users, 6, generator=g), torch.randn(config.items, 6, generator=g)
    user = torch.randint(0, config.users, (n,), generator=g)
    item = torch.randint(0, config.items, (n,), generator=g)
    score = 3.5 + 0.5 * (u[user] * v[item]).sum(1) + 0.4 * torch.randn(n, generator=g)
    cut = int(0.9 * n)
    return TensorDataset(user[:cut], item[:cut], score[:cut]), TensorDataset(user[cut:], item[cut:], score[cut:])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=Config.epochs)
    p.add_argument("--no-amp", action="store_true")
    args = p.parse_args()
    config = Config(epochs=args.epochs, mixed_precision=not args.no_amp)
    torch.manual_seed(0)
    train_set, test_set = ratings(config)
    model = TwoTower(config.users, config.items)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr, weight_decay=1e-2)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=config.gamma)
    trainer = Trainer(model, nn.MSELoss(), optimizer, scheduler, config)
    train_loader = DataLoader(train_set, config.batch_size, shuffle=True, drop_last=True)
    test_loader = DataLoader(test_set, 1024)
    for epoch in range(config.epochs):
        loss = trainer.train_epoch(train_loader)
        print(f"epoch {epoch:2d}  train mse {loss:.4f}  test rmse {trainer.evaluate(test_loader):.4f}", flush=True)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "two_tower.pt")


if __name__ == "__main__":
    main()
