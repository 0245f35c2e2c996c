import torch
from torch import nn


def main(model, other, loader, new_head):
    if new_head:
        model.head = nn.Linear(512, 10)
        optimizer = torch.optim.SGD(model.head.parameters(), lr=0.1)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    other.head = nn.Linear(512, 10)
    model.note = nn.Identity()
    model.scale = 2
    for images, labels in loader:
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
