class Anneal:
    """Linear from `start` to nothing within `steps` steps."""

    def __init__(self, start, steps):
        self.start, self.steps = start, steps

    def __call__(self, step):
        return self.start * max(0.0, 1 - step / self.steps)


class Weights:
    def __init__(self, **schedules):
        self.schedules = schedules

    def at(self, step):
        values = {name: s(step) if callable(s) else s for name, s in self.schedules.items()}
        return {name: value for name, value in values.items() if value > 0}
