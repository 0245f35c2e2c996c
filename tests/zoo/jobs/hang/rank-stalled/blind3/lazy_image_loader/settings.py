from dataclasses import dataclass


@dataclass
class Settings:
    images: int = 96
    side: int = 16
    batch_size: int = 4
    num_workers: int = 1
    classes: int = 5
    epochs: int = 2
    lr: float = 0.02
    seed: int = 13
