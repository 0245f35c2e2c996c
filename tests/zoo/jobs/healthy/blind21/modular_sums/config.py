from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    modulus: int = 31
    train_part: float = 0.9
    width: int = 96
    batch_size: int = 64
    steps: int = 600
    lr: float = 0.06
    memory: float = 0.9
    max_norm: float = 5.0
    weight_decay: float = 1e-4
    log_every: int = 100
    seed: int = 0
