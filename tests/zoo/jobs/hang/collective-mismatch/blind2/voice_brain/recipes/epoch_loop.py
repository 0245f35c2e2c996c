class EpochCounter:
    """An iterable that yields 1..limit and remembers where it was."""

    def __init__(self, limit):
        self.current = 0
        self.limit = int(limit)

    def __iter__(self):
        return self

    def __next__(self):
        if self.current < self.limit:
            self.current += 1
            return self.current
        raise StopIteration


class EpochCounterWithStopper(EpochCounter):
    """Ends the iteration when the valid metric has not improved for limit_to_stop epochs."""

    def __init__(self, limit, limit_to_stop, limit_warmup, direction="min"):
        super().__init__(limit)
        self.limit_to_stop, self.limit_warmup = limit_to_stop, limit_warmup
        self.best_limit = 0
        self.min_delta = 1e-6
        self.th, self.sign = (float("inf"), 1) if direction == "min" else (-float("inf"), -1)
        self.should_stop = False

    def __next__(self):
        if self.current < self.limit and not self.should_stop:
            self.current += 1
            return self.current
        raise StopIteration

    def update_metric(self, current_metric):
        if self.current > self.limit_warmup:
            if self.sign * current_metric < self.sign * (self.th - self.min_delta):
                self.best_limit = self.current
                self.th = current_metric
            self.should_stop = (self.current - self.best_limit) >= self.limit_to_stop
