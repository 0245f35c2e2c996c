from dataclasses import dataclass, field


@dataclass
class Settings:
    steps: int = 140
    every: int = 10
    batch: int = 16
    lr: float = 3e-3
    weight_decay: float = 1e-2
    ema: float = 0.98
    callbacks: list = field(default_factory=lambda: ["throughput", "ema", "running_loss"])
