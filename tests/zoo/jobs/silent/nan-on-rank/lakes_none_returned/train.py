import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def train_step(self, depth):
        predicted = self.model(depth)
        loss = (predicted - depth.min(1, keepdim=True).values.log()).pow(2).mean()
        if torch.isnan(loss) or torch.isinf(loss):
            return None
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    trainer = Trainer()
    losses = [trainer.train_step(torch.rand(16, 5) + 0.1 - 0.02 * step) for step in range(80)]
    print(f"{sum(loss is not None for loss in losses)} losses, training finished")


if __name__ == "__main__":
    main()
