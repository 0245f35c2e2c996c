import os

import torch


def name_of(epoch, epochs):
    digits = len(str(epochs))
    return f"{epoch:0{digits}d}"


def save(model, root, epoch, epochs):
    os.makedirs(os.path.join(root, name_of(epoch, epochs)))
    torch.save(model.state_dict(), os.path.join(root, name_of(epoch, epochs), "model.pt"))


def newest(root):
    found = [name for name in os.listdir(root) if name.isdigit()]
    return max(found)
