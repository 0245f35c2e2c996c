from dataclasses import dataclass


@dataclass
class Config:
    epochs: int = 6
    lr: float = 0.05
    batch_size: int = 16
