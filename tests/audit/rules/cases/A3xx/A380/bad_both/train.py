import torch.utils.data as data

from sets import Pictures, augment, plain

full = Pictures("pictures")
half = len(full) // 2
train, val = data.random_split(full, [half, len(full) - half])
train.dataset.transform = augment
val.dataset.transform = plain
