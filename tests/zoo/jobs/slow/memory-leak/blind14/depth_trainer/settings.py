from dataclasses import dataclass


@dataclass
class Settings:
    steps: int = 240
    eval_every: int = 6
    eval_batches: int = 2
    batch_size: int = 8
    size: int = 40
    width: int = 24
    lr: float = 1e-3
    log_every: int = 24
