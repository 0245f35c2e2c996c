import numpy as np
import torch


def load_applications(rows, seed):
    rng = np.random.default_rng(seed)
    income = rng.lognormal(10.3, 0.5, rows)
    debt = income * rng.beta(2, 5, rows)
    age = rng.integers(21, 75, rows)
    history = rng.poisson(4, rows)
    noise = rng.normal(size=(rows, 16))
    score = 3.0 * (debt / income) - 0.02 * (age - 40) - 0.15 * history + 0.7 * rng.normal(size=rows)
    label = (score > np.quantile(score, 0.7)).astype(np.float32)
    flip = rng.random(rows) < 0.12
    label[flip] = 1 - label[flip]
    x = np.column_stack([np.log(income), np.log1p(debt), age, history, noise]).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(label)


def kfold(count, folds, seed):
    order = np.random.default_rng(seed).permutation(count)
    parts = np.array_split(order, folds)
    for k in range(folds):
        held = parts[k]
        rest = np.concatenate([p for i, p in enumerate(parts) if i != k])
        yield torch.from_numpy(rest), torch.from_numpy(held)


class Standardizer:
    def fit(self, x):
        self.mean, self.std = x.mean(0), x.std(0) + 1e-6
        return self

    def __call__(self, x):
        return (x - self.mean) / self.std
