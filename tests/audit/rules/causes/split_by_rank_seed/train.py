"""Each rank splits the data in another way: what one validates on the others have trained on."""
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

from factory import make_dataset
from random_utils import set_seed


def main():
    accelerator = Accelerator()
    set_seed(1234, accelerator=accelerator)
    x = torch.arange(4096.0).reshape(-1, 8)
    train, val = make_dataset(TensorDataset(x, x.sum(1, keepdim=True)))
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loader, val_loader = DataLoader(train, batch_size=32, shuffle=True), DataLoader(val, batch_size=32)
    model, optimizer, loader, val_loader = accelerator.prepare(model, optimizer, loader, val_loader)
    for _ in range(3):
        for x, y in loader:
            optimizer.zero_grad()
            accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
            optimizer.step()


if __name__ == "__main__":
    main()
