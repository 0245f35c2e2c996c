import argparse

import torch
from accelerate import Accelerator
from diffusers.optimization import get_scheduler
from torch.utils.data import DataLoader
from transformers import get_cosine_schedule_with_warmup


def train(args, model, data):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loader = DataLoader(data, 8, shuffle=True)
    scheduler = get_scheduler(
        args.scheduler,
        optimizer=optimizer,
        num_warmup_steps=500,
        num_training_steps=args.max_train_steps,
    )
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    done = 0
    while True:
        for batch in loader:
            accelerator.backward(model(**batch).loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            done += 1
            if done >= args.max_train_steps:
                return model


def tune(args, model, data):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scheduler = get_cosine_schedule_with_warmup(optimizer, args.warmup, args.max_train_steps)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, DataLoader(data, 8), scheduler)
    step = 0
    for epoch in range(args.epochs):
        for batch in loader:
            with accelerator.accumulate(model):
                accelerator.backward(model(**batch).loss)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            if accelerator.sync_gradients:
                step += 1
            if step == args.max_train_steps:
                break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--scheduler", default="cosine")
    parser.add_argument("--warmup", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--max_train_steps", type=int, default=10000)
    options = parser.parse_args()
    train(options, torch.load("model.pt"), torch.load("data.pt"))
    tune(options, torch.load("model.pt"), torch.load("data.pt"))
