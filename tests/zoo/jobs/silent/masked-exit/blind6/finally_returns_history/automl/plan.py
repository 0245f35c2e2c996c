from dataclasses import dataclass, field

RATES = {"warmup": 0.01, "main": 0.1, "annealing": 0.001}


@dataclass
class Plan:
    epochs: int
    stages: dict = field(default_factory=dict)

    def rate(self, epoch):
        stage = self.stages[max(start for start in self.stages if start <= epoch)]
        return RATES[stage]
