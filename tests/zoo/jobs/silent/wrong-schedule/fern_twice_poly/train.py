import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, steps):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        self.schedule = torch.optim.lr_scheduler.SequentialLR(
            self.optimizer,
            [
                torch.optim.lr_scheduler.LinearLR(self.optimizer, 0.1, 1.0, total_iters=5),
                torch.optim.lr_scheduler.LinearLR(self.optimizer, 1.0, 0.01, total_iters=steps - 5),
            ],
            milestones=[5],
        )

    def step(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.schedule.step()
        return loss.item()


def main():
    torch.manual_seed(0)
    x = torch.randn(800, 5)
    loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=16, shuffle=True)
    trainer = Trainer(nn.Linear(5, 2), 2 * len(loader))
    for epoch in range(2):
        for features, label in loader:
            loss = trainer.step(features, label)
            trainer.schedule.step()
        print(f"epoch {epoch} loss {loss:.4f} rate {trainer.schedule.get_last_lr()[0]:.4f}", flush=True)


if __name__ == "__main__":
    main()
