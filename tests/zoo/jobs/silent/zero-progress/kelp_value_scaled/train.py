import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Stepper:
    def __init__(self, model, optimizer, every):
        self.model, self.optimizer, self.every, self.count = model, optimizer, every, 0
        self.scaler = torch.amp.GradScaler("cpu")

    def __call__(self, loss):
        self.scaler.scale(loss / self.every).backward()
        self.count += 1
        if self.count % self.every:
            return
        limit(self.model)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()


def limit(model):
    nn.utils.clip_grad_value_(model.parameters(), 0.1)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv1d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14, 2))
    step = Stepper(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), every=2)
    x = torch.randn(400, 1, 16)
    loader = DataLoader(TensorDataset(x, (x[:, 0, 0] > 0).long()), batch_size=8, shuffle=True)
    for epoch in range(2):
        for signal, label in loader:
            loss = F.cross_entropy(model(signal), label)
            step(loss)
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
