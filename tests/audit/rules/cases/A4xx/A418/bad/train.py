import sys

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader


def main():
    accelerator = Accelerator(mixed_precision="bf16")
    model = nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    if len(sys.argv) > 1:
        accelerator.load_state(sys.argv[1])
    loader = DataLoader(torch.load("data.pt"), 8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        optimizer.zero_grad()
        accelerator.backward(model(batch).mean())
        optimizer.step()
    accelerator.save_state("last")


if __name__ == "__main__":
    main()
