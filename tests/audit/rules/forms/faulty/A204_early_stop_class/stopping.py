import math


class Patience:
    def __init__(self, patience=3):
        self.best = math.inf
        self.patience = patience
        self.bad = 0

    def update(self, loss):
        if loss < self.best:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1

    @property
    def exhausted(self):
        return self.bad >= self.patience
