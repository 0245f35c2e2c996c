from dataclasses import dataclass, field
from typing import List


@dataclass
class Patience:
    limit: int = 5
    delta: float = 1e-4
    best: float = float("inf")
    waited: int = 0
    history: List[float] = field(default_factory=list)

    def step(self, value: float) -> bool:
        self.history.append(value)
        if value < self.best - self.delta:
            self.best, self.waited = value, 0
        else:
            self.waited += 1
        return self.waited >= self.limit

    def state_dict(self):
        return {"best": self.best, "waited": self.waited, "history": list(self.history)}
