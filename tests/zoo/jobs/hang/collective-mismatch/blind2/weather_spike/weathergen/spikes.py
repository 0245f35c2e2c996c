import collections
import math


class LossSpikeFilter:
    """Recognises batches whose loss is far above the running median."""

    def __init__(self, window, factor):
        self.history = collections.deque(maxlen=window)
        self.window, self.factor = window, factor
        self.skipped = []

    def is_spike(self, loss, step):
        if not math.isfinite(loss):
            self.skipped.append(step)
            return True
        if len(self.history) == self.window:
            median = sorted(self.history)[self.window // 2]
            if loss > self.factor * median:
                self.skipped.append(step)
                return True
        self.history.append(loss)
        return False
