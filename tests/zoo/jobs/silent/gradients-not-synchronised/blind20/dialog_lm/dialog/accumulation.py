from contextlib import nullcontext


class Accumulation:
    """Says for each micro-batch whether ranks exchange gradients and whether the optimizer steps."""

    def __init__(self, model, every):
        self.model, self.every = model, every
        self.micro = 0

    def exchange(self):
        if self.micro % self.every:
            return self.model.no_sync()
        return nullcontext()

    def advance(self):
        self.micro += 1
        return self.micro % self.every == 0
