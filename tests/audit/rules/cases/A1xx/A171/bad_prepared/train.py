import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import get_scheduler


def main(model, data, epochs):
    accelerator = Accelerator()
    loader = DataLoader(data, 8, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    updates = epochs * len(loader)
    scheduler = get_scheduler("cosine", optimizer, num_warmup_steps=updates // 20, num_training_steps=updates)
    scheduler = accelerator.prepare(scheduler)
    for _ in range(epochs):
        for batch in loader:
            accelerator.backward(model(**batch).loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()


def cosine(model, data, epochs):
    accelerator = Accelerator(mixed_precision="bf16")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loader = accelerator.prepare(DataLoader(data, 8, shuffle=True))
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(loader))
    model, optimizer, scheduler = accelerator.prepare(model, optimizer, scheduler)


if __name__ == "__main__":
    main(torch.load("model.pt"), torch.load("data.pt"), 3)
    cosine(torch.load("model.pt"), torch.load("data.pt"), 3)
