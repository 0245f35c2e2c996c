from torch.utils.data import DataLoader, random_split

from data import Pictures, augment, plain


def loaders(root, n):
    full = Pictures(root, transform=augment())
    train_set, val_set = random_split(full, [n, len(full) - n])
    val_set.dataset.transform = plain()
    return DataLoader(train_set, 32, shuffle=True), DataLoader(val_set, 64)
