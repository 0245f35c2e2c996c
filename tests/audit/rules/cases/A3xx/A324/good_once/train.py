import torch
from torch import nn


def freeze_norms(model):
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()


def main(model, loader):
    optimizer = torch.optim.AdamW(model.parameters())
    model.train()
    freeze_norms(model)
    for images, labels in loader:
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
