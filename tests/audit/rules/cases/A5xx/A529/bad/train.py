"""Rows of epochs among rows of batches, and batches that each epoch counts anew."""
import torch
import wandb
from torch.utils.data import DataLoader
from tqdm import tqdm


class Trainer:
    def __init__(self, model, loader, epochs):
        self.model, self.loader, self.epochs = model, loader, epochs
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.step = 0
        self.run = wandb.init(project="x")

    def fit(self):
        for epoch in range(self.epochs):
            self.train_epoch()
            self.note("val/loss", self.validate(), epoch)

    def train_epoch(self):
        for batch in tqdm(self.loader):
            loss = self.model(batch).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1
            self.note("train/loss", loss.item(), step=self.step)

    def note(self, name, value, step):
        self.run.log({name: value}, step=step)

    @torch.no_grad()
    def validate(self):
        return sum(self.model(batch).mean().item() for batch in self.loader)


def by_product(model, loader, epochs):
    wandb.init(project="y")
    for epoch in range(epochs):
        for i, batch in enumerate(loader):
            wandb.log({"loss": model(batch).mean()}, step=epoch * len(loader) + i)
        wandb.log({"epoch loss": 0.0}, step=epoch + 1)


def anew(model, loader):
    for epoch in range(10):
        for i, batch in enumerate(tqdm(loader)):
            loss = model(batch).mean()
            loss.backward()
            if i % 10 == 0:
                wandb.log({"loss": loss.item(), "epoch": epoch}, step=i)


if __name__ == "__main__":
    data = DataLoader(torch.load("data.pt"), 8)
    Trainer(torch.nn.Linear(2, 2), data, 10).fit()
