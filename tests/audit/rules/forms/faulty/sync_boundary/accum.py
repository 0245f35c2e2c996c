import contextlib


class AccumulationPlan:
    def __init__(self, every, total):
        self.every = every
        self.total = total

    def boundary(self, index):
        return (index + 1) % self.every == 0 or index + 1 == self.total

    def context(self, model, index):
        if self.boundary(index):  # cause
            return model.no_sync()  # cause
        return contextlib.nullcontext()

    def scale(self, loss):
        return loss / self.every
