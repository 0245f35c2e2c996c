from dataclasses import dataclass


@dataclass
class MoEConfig:
    dim: int = 16
    hidden: int = 24
    tokens: int = 32
    steps: int = 20
    lr: float = 0.05
    preview_every: int = 5
    seed: int = 21
