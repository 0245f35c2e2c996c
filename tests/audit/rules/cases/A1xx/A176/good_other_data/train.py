from torch.utils.data import random_split
from torchvision import datasets

train_full = datasets.CIFAR10("data", train=True)
test_full = datasets.CIFAR10("data", train=False)
sizes = [5000, 5000]
train_set, _ = random_split(train_full, sizes)
_, test_set = random_split(test_full, sizes)


def halves(rows):
    train, val = random_split(rows, [0.8, 0.2])
    return train, val


def nested(rows):
    rest, _ = random_split(rows, [0.8, 0.2])
    _, val = random_split(rest, [0.8, 0.2])
    return val
