import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from report import Report


def loaders():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(200, 9, generator=g)
    y = (x.sum(1) > 0).long()
    data = TensorDataset(x, y)
    return DataLoader(data, batch_size=10, shuffle=True), DataLoader(data, batch_size=20)


def main():
    accelerator = Accelerator(cpu=True)
    train, valid = loaders()
    model = nn.Sequential(nn.Linear(9, 16), nn.ReLU(), nn.Linear(16, 2))
    model, optimizer, train, valid = accelerator.prepare(model, torch.optim.Adam(model.parameters()), train, valid)
    report = Report(accelerator, every=10)
    step = 0
    for epoch in range(4):
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            step += 1
            report.tick(1)
            if report.due():
                report.evaluate(model, valid)
    accelerator.wait_for_everyone()
    accelerator.print("done after", step)


if __name__ == "__main__":
    main()
