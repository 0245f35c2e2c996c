from dataclasses import dataclass


@dataclass
class DesLocConfig:
    kx: int = 4  # steps between two averagings of the parameters
    ku: int = 8  # steps between two averagings of the first moment
    lr: float = 3e-3
    betas: tuple = (0.9, 0.95)


@dataclass
class RunConfig:
    steps: int = 24
    log_every: int = 4
    batch_size: int = 16
    features: int = 12
    init_scale: float = 2.0**12
    seed: int = 1234
