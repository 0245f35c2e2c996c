from dataclasses import dataclass


@dataclass
class CheckpointConfig:
    interval: int = 4
    keep: int = 2
    mode: str = "async"


@dataclass
class TrainConfig:
    steps: int = 12
    dim: int = 1536
    samples: int = 400_000
    batch_size: int = 8
    lr: float = 1e-2
    seed: int = 3
