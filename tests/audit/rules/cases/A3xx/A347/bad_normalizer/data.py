from torch.utils.data import Dataset


class Windows(Dataset):
    def __init__(self, data, length, horizon, normalizer):
        self.data, self.length, self.horizon, self.normalizer = data, length, horizon, normalizer

    def __getitem__(self, i):
        encoder = slice(i, i + self.length)
        decoder = slice(i + self.length, i + self.length + self.horizon)
        past = self.data[encoder]
        if self.normalizer is not None:
            past = self.normalizer.fit_transform(past)
        x = {"past": past, "scale": self.normalizer.params}
        y = self.data[decoder]
        return x, y
