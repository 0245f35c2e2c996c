import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import get_scheduler


def main(model, data, epochs):
    accelerator = Accelerator(split_batches=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, 8, shuffle=True))
    scheduler = accelerator.prepare(get_scheduler("cosine", optimizer, num_training_steps=epochs * len(loader)))
    return scheduler


if __name__ == "__main__":
    print(main(torch.load("model.pt"), torch.load("data.pt"), 3))
