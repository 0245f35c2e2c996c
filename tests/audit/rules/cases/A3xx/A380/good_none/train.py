from torch.utils.data import random_split

from data import Pictures, plain

full = Pictures("pictures", transform=None)
train_set, val_set = random_split(full, [900, 100])
train_set.dataset.transform = plain
