from collections import defaultdict, deque


class Smoothed:
    def __init__(self, window):
        self.values, self.total, self.count = deque(maxlen=window), 0.0, 0

    def update(self, value):
        self.values.append(value)
        self.total += value
        self.count += 1

    @property
    def recent(self):
        return sum(self.values) / max(1, len(self.values))


class MetricLogger:
    def __init__(self, window=20, sep="  "):
        self.window, self.sep = window, sep
        self.meters = defaultdict(lambda: Smoothed(window))

    def update(self, **values):
        for name, value in values.items():
            self.meters[name].update(float(value))

    def __str__(self):
        return self.sep.join(f"{k} {m.recent:.3f}" for k, m in self.meters.items())
