from dataclasses import dataclass


@dataclass
class FitConfig:
    input_dim: int = 12
    hidden: int = 24
    batch_size: int = 16
    max_steps: int = 30
    val_every: int = 10
    sanity_batches: int = 2
    lr: float = 0.05
    seed: int = 17
