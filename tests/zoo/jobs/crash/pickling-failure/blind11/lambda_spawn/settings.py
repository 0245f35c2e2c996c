from dataclasses import dataclass
from typing import Callable


@dataclass
class Settings:
    world: int = 2
    steps: int = 30
    lr: float = 0.05
    warmup: int = 5
    schedule: Callable[[int], float] = None


def load(**changes):
    settings = Settings(**changes)
    settings.schedule = lambda step: min(1.0, (step + 1) / settings.warmup)
    return settings
