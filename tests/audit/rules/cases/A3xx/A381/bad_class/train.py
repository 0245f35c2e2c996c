from torch.utils.data import DataLoader, Dataset, random_split


class Load(Dataset):
    def __init__(self, values, lookback):
        self.values, self.lookback = values, lookback

    def __len__(self):
        return len(self.values) - self.lookback

    def __getitem__(self, i):
        return self.values[i:i + self.lookback], self.values[i + self.lookback]


def loaders(values):
    data = Load(values, 24)
    n = int(0.8 * len(data))
    train, val = random_split(data, [n, len(data) - n])
    return DataLoader(train, 32, shuffle=True), DataLoader(val, 64)
