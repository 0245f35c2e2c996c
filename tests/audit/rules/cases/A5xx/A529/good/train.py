"""Logs whose steps rise."""
import torch
import wandb
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, model, loader, epochs, by_epoch):
        self.model, self.loader, self.epochs, self.by_epoch = model, loader, epochs, by_epoch
        self.step = 0
        self.run = wandb.init(project="x")

    def fit(self):
        for epoch in range(self.epochs):
            for batch in self.loader:
                self.model(batch).mean().backward()
                self.step += 1
                self.run.log({"loss": 0.0}, step=self.step)
            self.run.log({"val/loss": 0.0, "epoch": epoch}, step=self.step)

    def either(self):
        for epoch in range(self.epochs):
            for batch in self.loader:
                self.step += 1
                if not self.by_epoch:
                    wandb.log({"loss": 0.0}, step=self.step)
            if self.by_epoch:
                wandb.log({"val/loss": 0.0}, step=epoch)


def by_epoch(model, loader, epochs):
    for epoch in range(epochs):
        for i, batch in enumerate(loader):
            model(batch).mean().backward()
        wandb.log({"loss": 0.0}, step=epoch)
        wandb.log({"val/loss": 0.0}, step=epoch)


def by_product(model, loader, epochs):
    for epoch in range(epochs):
        for i, batch in enumerate(loader):
            wandb.log({"loss": model(batch).mean()}, step=epoch * len(loader) + i)
        wandb.log({"val/loss": 0.0}, step=(epoch + 1) * len(loader))


def untold(model, loader, epochs):
    for epoch in range(epochs):
        for i, batch in enumerate(loader):
            wandb.log({"loss": model(batch).mean(), "step": i})
        wandb.log({"val/loss": 0.0, "epoch": epoch})


def goes_on(model, loader, epochs):
    seen = 0
    for epoch in range(epochs):
        for i, batch in enumerate(loader, start=seen):
            wandb.log({"loss": model(batch).mean()}, step=i)
        seen += len(loader)


def once(model, loader):
    for i, batch in enumerate(loader):
        wandb.log({"loss": model(batch).mean()}, step=i)


def of_steps(model, envs):
    for update in range(1000):
        for step in range(32):
            model(envs)
        wandb.log({"return": 0.0}, step=update)


def board(writer, loader, epochs):
    step = 0
    for epoch in range(epochs):
        for batch in loader:
            step += 1
            writer.add_scalar("loss", 0.0, step)
        writer.add_scalar("val", 0.0, epoch)


if __name__ == "__main__":
    data = DataLoader(torch.load("data.pt"), 8)
    trainer = Trainer(torch.nn.Linear(2, 2), data, 10, True)
    trainer.fit()
    trainer.either()
