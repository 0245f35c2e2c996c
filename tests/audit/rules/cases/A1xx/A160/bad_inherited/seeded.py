import numpy as np


class Seeded:
    def __init__(self, seed=None):
        self.start(seed)

    def start(self, seed):
        self.rng = np.random.default_rng(seed)
