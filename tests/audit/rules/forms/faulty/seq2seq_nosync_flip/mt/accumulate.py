import contextlib


class Window:
    def __init__(self, model, size, total):
        self.model = model
        self.size = size
        self.total = total
        self.i = -1

    def advance(self):
        self.i += 1
        return self

    @property
    def is_boundary(self):
        return (self.i + 1) % self.size == 0 or self.i + 1 == self.total

    def sync(self):
        if self.is_boundary and self.size > 1:  # cause
            return self.model.no_sync()  # cause
        return contextlib.nullcontext()
