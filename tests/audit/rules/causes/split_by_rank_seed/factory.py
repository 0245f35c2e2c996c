from torch.utils.data import random_split


def make_dataset(dataset, val_ratio=0.02):
    val_size = int(len(dataset) * val_ratio)
    return random_split(dataset, [len(dataset) - val_size, val_size])  # cause
