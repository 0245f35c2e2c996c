import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from budget import Budget


def make_data():
    x = torch.randn(512, 5)
    y = x @ torch.arange(5.0)
    y[1::2] += torch.randn(256)  # every second row is from the cheap sensor
    return TensorDataset(x, y)


def main():
    set_seed(21)
    accelerator = Accelerator(cpu=True)
    model = nn.Linear(5, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    loader = DataLoader(make_data(), batch_size=1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    budget = Budget(target=0.05, smoothing=0.95)
    steps = 0
    for epoch in range(3):
        for x, y in loader:
            loss = (model(x).squeeze(1) - y).square().mean()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            steps += 1
            if budget.spent(loss.item(), steps):
                break
        if budget.done:
            break
    final = accelerator.gather(loss.detach().reshape(1)).mean()
    accelerator.print(f"{steps} steps, loss {final.item():.3f}")
    accelerator.wait_for_everyone()
    accelerator.end_training()


if __name__ == "__main__":
    main()
