from dataclasses import dataclass, field


@dataclass
class Patience:
    limit: int = 4
    delta: float = 1e-3
    best: float = float("-inf")
    bad: int = 0
    history: list = field(default_factory=list)

    def after_validation(self, value):
        self.history.append(value)
        if value > self.best + self.delta:
            self.best, self.bad = value, 0
        else:
            self.bad += 1

    @property
    def exhausted(self):
        return self.bad >= self.limit
