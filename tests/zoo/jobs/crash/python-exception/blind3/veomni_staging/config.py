from dataclasses import dataclass


@dataclass
class SaveConfig:
    every: int = 5
    pointer: str = "latest"


@dataclass
class TrainConfig:
    steps: int = 12
    dim: int = 20
    batch_size: int = 8
    lr: float = 0.05
    seed: int = 2
