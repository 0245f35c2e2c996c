from torch.utils.data import random_split

from data import Pictures, augment, plain, train_model


def run(root, n):
    full = Pictures(root, transform=augment())
    train_set, test_set = random_split(full, [n, len(full) - n])
    model = train_model(train_set)
    test_set.dataset.transform = plain()
    return model, test_set
