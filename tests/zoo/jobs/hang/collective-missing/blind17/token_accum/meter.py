class UpdateBudget:
    """Collects micro batches until one update has seen enough target tokens."""

    def __init__(self, target):
        self.target = target
        self.pending = 0
        self.micro = 0

    def add(self, ids):
        self.pending += int((ids != 0).sum())
        self.micro += 1
        return self.pending >= self.target

    def flush(self):
        out = self.micro, self.pending
        self.pending = self.micro = 0
        return out
