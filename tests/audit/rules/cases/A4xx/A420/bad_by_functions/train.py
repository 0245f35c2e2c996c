import torch
from torch import nn
from transformers import get_cosine_schedule_with_warmup

from state import read_state, write_state


def build(model, total):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    schedule = get_cosine_schedule_with_warmup(optimizer, 500, total)
    return optimizer, schedule


def run_epoch(model, loader, opt, sched):
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
        sched.step()


def main(model, loader, epochs, path):
    optimizer, schedule = build(model, epochs * len(loader))
    begin = read_state(path, model, optimizer)
    for epoch in range(begin, epochs):
        run_epoch(model, loader, optimizer, schedule)
        write_state(path, model, optimizer, epoch)
