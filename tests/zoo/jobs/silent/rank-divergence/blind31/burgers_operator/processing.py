import itertools


class UnitGaussianNormalizer:
    def __init__(self, eps=1e-6):
        self.eps = eps
        self.n, self.sum, self.sq = 0, 0.0, 0.0

    def partial_fit(self, batch):
        batch = batch.double()
        self.n += batch.numel()
        self.sum += batch.sum().item()
        self.sq += (batch ** 2).sum().item()
        self.mean = self.sum / self.n
        self.std = max(self.sq / self.n - self.mean ** 2, 0.0) ** 0.5

    def encode(self, x):
        return (x - self.mean) / (self.std + self.eps)

    def decode(self, x):
        return x * (self.std + self.eps) + self.mean


class DataProcessor:
    def __init__(self, in_normalizer, out_normalizer):
        self.in_normalizer, self.out_normalizer = in_normalizer, out_normalizer
        self.training = True

    def fit(self, loader, max_batches=None):
        for x, y in itertools.islice(loader, max_batches):
            self.in_normalizer.partial_fit(x)
            self.out_normalizer.partial_fit(y)
        return self

    def preprocess(self, x, y):
        x = self.in_normalizer.encode(x)
        if self.training:
            y = self.out_normalizer.encode(y)
        return x, y

    def postprocess(self, out):
        return out if self.training else self.out_normalizer.decode(out)

    def train(self, mode=True):
        self.training = mode

    def state_dict(self):
        return {"in": vars(self.in_normalizer), "out": vars(self.out_normalizer)}
