from dataclasses import dataclass


@dataclass
class Config:
    features: int = 12
    hidden: int = 32
    rows_per_rank: int = 256
    batch_size: int = 32
    max_epochs: int = 40
    lr: float = 0.05
    patience: int = 2
    min_delta: float = 1e-3
    seed: int = 3
