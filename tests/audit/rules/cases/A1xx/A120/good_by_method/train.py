"""Methods and functions that keep the weights in place, that come before the optimizer, or are of another model."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Linear(32, 64)
        self.head = nn.Linear(64, classes)
        self.seen = None

    def grow(self, classes):
        self.head = nn.Linear(64, classes)

    @torch.no_grad()
    def reset_head(self):
        new = nn.Linear(64, self.head.out_features)
        self.head.weight.copy_(new.weight)
        self.head.bias.copy_(new.bias)

    def forward(self, x):
        self.seen = self.head(self.body(x))
        return self.seen


def groups_of(model, decay):
    rest = [p for n, p in model.named_parameters() if not n.endswith("bias")]
    return torch.optim.AdamW([{"params": rest, "weight_decay": decay}], lr=1e-3)


def before(loader, classes):
    model = Net(10)
    model.grow(classes)
    optimizer = groups_of(model, 0.1)
    model.reset_head()
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def of_the_teacher(student, teacher, loader, classes):
    optimizer = torch.optim.SGD([p for p in student.parameters() if p.requires_grad], lr=0.1)
    teacher.grow(classes)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(student(x), teacher(x)).backward()
        optimizer.step()


def made_anew(model, loader, classes):
    optimizer = groups_of(model, 0.1)
    for task in range(3):
        model.grow(classes + task)
        optimizer = groups_of(model, 0.1)
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
