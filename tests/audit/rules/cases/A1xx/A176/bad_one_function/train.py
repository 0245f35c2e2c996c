from torch.utils.data import Dataset, random_split


class Clips(Dataset):
    def __init__(self, folder, transform=None):
        self.folder, self.transform = folder, transform


def parts(folder, lengths):
    whole = Clips(folder)
    train, _unused = random_split(whole, lengths)
    _unused, val = random_split(whole, lengths)
    return train, val
