class Meter:
    """Collects named values over the run and gives their means."""

    def __init__(self):
        self.values = {}

    def add(self, **values):
        for name, value in values.items():
            self.values.setdefault(name, []).append(value)

    def mean(self, name, last=50):
        values = self.values[name][-last:]
        return float(sum(values)) / len(values)
