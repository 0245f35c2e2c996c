import argparse

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

from poses import Poses, pad_batch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    accelerator = Accelerator(cpu=True)
    model = torch.nn.Sequential(torch.nn.Linear(34, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    loader = DataLoader(Poses(), batch_size=8, num_workers=2, collate_fn=pad_batch)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.Adam(model.parameters()), loader)
    for epoch in range(args.epochs):
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        accelerator.print(f"epoch {epoch} {loss.item():.3f}")


if __name__ == "__main__":
    main()
