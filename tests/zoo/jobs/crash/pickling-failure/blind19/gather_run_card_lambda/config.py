from dataclasses import asdict, dataclass, field
from typing import Any, Callable


@dataclass
class TrainConfig:
    lr: float = 0.05
    epochs: int = 5
    batch: int = 64
    schedule: Any = "constant"
    tags: dict = field(default_factory=dict)

    def card(self):
        return {k: v for k, v in vars(self).items()}


def per_host_overrides(cfg, rank):
    """Hosts differ: the second node is shared with another group and warms up slowly."""
    overrides = {0: {"tags": {"host": "a100-03"}}, 1: {"tags": {"host": "a100-07"}, "schedule": lambda s: min(1.0, s / 50)}}
    for key, value in overrides.get(rank, {}).items():
        setattr(cfg, key, value)
    return cfg


def factor(schedule, step) -> float:
    return schedule(step) if callable(schedule) else 1.0
