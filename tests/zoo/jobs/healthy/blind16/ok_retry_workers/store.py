import random
import time

import numpy as np


class FlakyStore:
    """A remote object store as it is: slow at times, with transient faults."""

    def __init__(self, seed, fault=0.03):
        self.seed, self.fault, self.r = seed, fault, None

    def get(self, key):
        if self.r is None:
            self.r = random.Random(self.seed * 7919 + key)
        if self.r.random() < self.fault:
            raise ConnectionResetError(f"object {key}: connection reset by peer")
        if self.r.random() < 0.002:
            time.sleep(0.4)
        g = np.random.default_rng(self.seed * 100003 + key)
        return g.normal(size=(3, 16, 16)).astype(np.float32)


def with_retries(fn, key, tries=6):
    for k in range(tries):
        try:
            return fn(key)
        except ConnectionResetError:
            if k + 1 == tries:
                raise
            time.sleep(0.005 * 2 ** k)
