import torch
from torch import nn


def main(model, loader, classes):
    optimizer = torch.optim.SGD(model.backbone.parameters(), lr=0.01)
    for images, labels in loader:
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    model.head = nn.Linear(512, classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for images, labels in loader:
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()


def added(model, loader, classes):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model.head = nn.Linear(512, classes)
    optimizer.add_param_group({"params": model.head.parameters()})
    for images, labels in loader:
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
