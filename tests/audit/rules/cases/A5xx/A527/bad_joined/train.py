import numpy as np


def prepare(pairs, rng):
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    order = rng.permutation(len(pairs))
    first, last = order[: len(pairs) // 5], order[len(pairs) // 5 :]
    val, train = pairs[first], pairs[last]
    return train, val
