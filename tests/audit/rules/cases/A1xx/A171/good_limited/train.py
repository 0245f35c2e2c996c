import argparse

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import get_scheduler


def multiplied(args, model, data):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    steps = args.max_train_steps * accelerator.num_processes
    scheduler = get_scheduler("cosine", optimizer, 500, num_training_steps=steps)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, DataLoader(data, 8), scheduler)
    done = 0
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        scheduler.step()
        done += 1
        if done >= args.max_train_steps:
            break


def counted_over_ranks(args, model, data):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scheduler = get_scheduler("cosine", optimizer, 500, num_training_steps=args.max_train_steps)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, DataLoader(data, 8), scheduler)
    done = 0
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        scheduler.step()
        done += accelerator.num_processes
        if done >= args.max_train_steps:
            break


def not_prepared(args, model, data):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scheduler = get_scheduler("cosine", optimizer, 500, num_training_steps=args.max_train_steps)
    model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, 8))
    done = 0
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        scheduler.step()
        done += 1
        if done >= args.max_train_steps:
            break


def by_setting(args, model, data):
    accelerator = Accelerator(step_scheduler_with_optimizer=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scheduler = get_scheduler("cosine", optimizer, 500, num_training_steps=args.max_train_steps)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, DataLoader(data, 8), scheduler)
    done = 0
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        scheduler.step()
        done += 1
        if done >= args.max_train_steps:
            break


def other_limit(args, model, data):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scheduler = get_scheduler("cosine", optimizer, 500, num_training_steps=args.decay_steps)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, DataLoader(data, 8), scheduler)
    done = 0
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        scheduler.step()
        done += 1
        if done >= args.max_train_steps:
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--decay_steps", type=int, default=5000)
    parser.add_argument("--max_train_steps", type=int, default=10000)
    options = parser.parse_args()
    for one in (multiplied, counted_over_ranks, not_prepared, other_limit):
        one(options, torch.load("model.pt"), torch.load("data.pt"))
