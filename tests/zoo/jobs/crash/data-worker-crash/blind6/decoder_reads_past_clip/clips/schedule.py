from dataclasses import dataclass


@dataclass
class Schedule:
    epochs: int
    lr: float
