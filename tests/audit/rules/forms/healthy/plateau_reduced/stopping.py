import math


class Plateau:
    def __init__(self, patience, min_delta=1e-4):
        self.patience = patience
        self.min_delta = min_delta
        self.best = math.inf
        self.bad = 0

    def update(self, value):
        if value < self.best - self.min_delta:
            self.best = value
            self.bad = 0
        else:
            self.bad += 1
        return self.bad >= self.patience
