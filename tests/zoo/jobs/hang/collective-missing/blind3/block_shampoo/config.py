from dataclasses import dataclass, field


@dataclass
class ShampooConfig:
    lr: float = 0.05
    epsilon: float = 1e-4
    block_size: int = 512


@dataclass
class Stage:
    name: str
    steps: int
    frozen: tuple = ()


@dataclass
class ExperimentConfig:
    vocab: int = 64
    dim: int = 24
    classes: int = 6
    batch_size: int = 16
    seed: int = 11
    stages: list = field(
        default_factory=lambda: [Stage("pretrain", 8), Stage("adapt", 8, ("tokens",))]
    )
