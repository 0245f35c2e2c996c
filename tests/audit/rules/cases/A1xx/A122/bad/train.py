import torch
from torch.utils.data import DataLoader


def train(data, model, epochs, batch_size):
    loader = DataLoader(data, batch_size=batch_size, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters())
    warmup = int(0.1 * epochs * len(loader) / batch_size)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / max(1, warmup)))
    return loader, scheduler
