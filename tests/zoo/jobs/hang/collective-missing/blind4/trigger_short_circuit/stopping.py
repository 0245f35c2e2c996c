"""Reasons to stop before the last step."""
import math


class LossPlateau:
    """Counts steps in which this process's loss did not get better."""

    def __init__(self, patience, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best = math.inf
        self.stale = 0

    def update(self, loss):
        if loss < self.best - self.min_delta:
            self.best = loss
            self.stale = 0
        else:
            self.stale += 1

    @property
    def exhausted(self):
        return self.stale >= self.patience


class Diverged:
    def __init__(self, factor=50.0):
        self.factor = factor
        self.first = None

    def __call__(self, loss):
        if self.first is None:
            self.first = loss
        return not math.isfinite(loss) or loss > self.factor * self.first
