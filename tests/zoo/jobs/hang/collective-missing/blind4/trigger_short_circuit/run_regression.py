"""Fine-tunes a small regressor with Accelerate."""
import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopping import Diverged, LossPlateau


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--patience", type=int, default=6)
    parser.add_argument("--lr", type=float, default=0.05)
    return parser.parse_args()


def load_data():
    generator = torch.Generator().manual_seed(8)
    x = torch.linspace(-1, 1, 256)[:, None]
    noise = torch.randn(256, 1, generator=generator)
    y = 3 * x + torch.where((torch.arange(256) // 8 % 2 == 0)[:, None], 0.0 * noise, 2.0 * noise)
    return TensorDataset(x, y)


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.zeros(1))
        self.b = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.a * x + self.b


def training_loop(accelerator, args):
    loader = DataLoader(load_data(), batch_size=args.batch_size)
    model = Regression()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    plateau, diverged = LossPlateau(args.patience), Diverged()
    done = 0
    for epoch in range(args.epochs):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            done += 1
            plateau.update(loss.item())
            if diverged(loss.item()):
                accelerator.set_trigger()
            if plateau.exhausted or accelerator.check_trigger():
                return done
        accelerator.print(f"epoch {epoch} loss {loss.item():.4f}")
    return done


def main():
    args = parse_args()
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=True)
    set_seed(42)
    done = training_loop(accelerator, args)
    steps = accelerator.gather(torch.tensor([done]))
    accelerator.print(f"stopped after {steps.tolist()} steps")
    accelerator.wait_for_everyone()
    accelerator.end_training()


if __name__ == "__main__":
    main()
