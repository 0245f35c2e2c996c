import torch
from torch.optim import lr_scheduler

from data import loader
from net import Net


def make_schedule(optimizer, steps):
    parts = [
        lr_scheduler.ConstantLR(optimizer, factor=0.1, total_iters=100),
        lr_scheduler.ExponentialLR(optimizer, gamma=0.999),
    ]
    return lr_scheduler.SequentialLR(optimizer, schedulers=parts, milestones=[100])


def make_optimizer(model, state):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    if state:
        optimizer.load_state_dict(state["optimizer"])
    return optimizer


def train(args):
    state = torch.load(args.resume) if args.resume else None
    model = Net()
    optimizer = make_optimizer(model, state)
    schedule = make_schedule(optimizer, args.steps)
    if state:
        schedule.load_state_dict(state["schedule"])
    for x, y in loader():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        schedule.step()
