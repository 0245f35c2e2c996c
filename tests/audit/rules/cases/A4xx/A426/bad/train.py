import torch
from transformers import get_cosine_schedule_with_warmup


def train(model, loader, optimizer, start_epoch, epochs):
    scheduler = get_cosine_schedule_with_warmup(optimizer, 500, epochs * len(loader), last_epoch=start_epoch - 1)
    for epoch in range(start_epoch, epochs):
        for batch in loader:
            model(batch).backward()
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
