from torch.utils.data import random_split

from data import Pictures, augment, fit, measure, plain


def run(root, n, epochs):
    full = Pictures(root, transform=augment())
    train_set, val_set = random_split(full, [n, len(full) - n])
    for _ in range(epochs):
        train_set.dataset.transform = augment()
        fit(train_set)
        val_set.dataset.transform = plain()
        measure(val_set)
