import random

import numpy as np


def jitter(x, width=8):
    """Cut out at another place each time, and mirrored now and then."""
    at = random.randint(0, x.shape[1] - width)
    x = x[:, at : at + width]
    if random.random() < 0.5:
        return np.ascontiguousarray(x[:, ::-1])
    return x
