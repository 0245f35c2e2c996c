import copy

from torch.utils.data import random_split

from data import Pictures, augment, plain


def loaders(root, n):
    full = Pictures(root, transform=augment())
    train_set, val_set = random_split(full, [n, len(full) - n])
    val_set.dataset = copy.copy(full)
    val_set.dataset.transform = plain()
    return train_set, val_set


def apart(root, order):
    train_full, val_full = Pictures(root, transform=augment()), Pictures(root, transform=augment())
    train_set, _ = random_split(train_full, order)
    _, val_set = random_split(val_full, order)
    val_set.dataset.transform = plain()
    return train_set, val_set
