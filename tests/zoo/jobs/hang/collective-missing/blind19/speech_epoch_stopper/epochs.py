"""Epoch counting with patience, kept in one object so that recipes stay short."""


class EpochCounterWithStopper:
    def __init__(self, limit, patience, mode="min"):
        self.limit = limit
        self.patience = patience
        self.mode = mode
        self.current = 0
        self.best = float("inf")
        self.bad_epochs = 0
        self.should_stop = False

    def __iter__(self):
        return self

    def __next__(self):
        self.current += 1
        if self.current > self.limit or self.should_stop:
            raise StopIteration
        return self.current

    def update_metric(self, value):
        if value < self.best - 1e-3:
            self.best = value
            self.bad_epochs = 0
        else:
            self.bad_epochs += 1
        self.should_stop = self.bad_epochs >= self.patience
