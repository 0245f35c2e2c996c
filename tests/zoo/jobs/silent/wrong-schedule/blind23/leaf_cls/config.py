from dataclasses import dataclass


@dataclass
class Config:
    epochs: int = 9
    batch_size: int = 20
    lr: float = 0.1
    momentum: float = 0.9
    min_lr: float = 0.0
    seed: int = 21
    train: int = 1280
    test: int = 1000
