import torch


class EncoderNormalizer:
    """Standardises a series by the statistics of its encoder window."""

    fit_per_sequence = True

    def fit(self, y):
        self.center, self.scale = y.mean(), y.std().clamp(min=1e-4)
        return self

    def transform(self, y):
        return (y - self.center) / self.scale

    def fit_transform(self, y):
        return self.fit(y).transform(y)

    @property
    def params(self):
        return torch.stack([self.center, self.scale])


class GlobalNormalizer(EncoderNormalizer):
    fit_per_sequence = False


NORMALIZERS = {"encoder": EncoderNormalizer, "global": GlobalNormalizer}
