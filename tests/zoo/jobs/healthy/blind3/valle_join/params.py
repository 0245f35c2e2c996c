from dataclasses import dataclass


@dataclass
class Params:
    feature_dim: int = 14
    hidden: int = 24
    max_duration: float = 60.0
    epochs: int = 3
    lr: float = 0.03
    accumulate: int = 1
    seed: int = 55
