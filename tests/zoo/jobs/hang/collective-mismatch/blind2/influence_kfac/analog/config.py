from dataclasses import dataclass, field


@dataclass
class InfluenceConfig:
    project: str = "mnist_influence"
    hidden: int = 16
    depth: int = 3
    epochs: int = 2
    batch_size: int = 32
    num_samples: int = 512
    statistic: str = "kfac"
    damping: float = 1e-4
    seed: int = 17
    log_items: list = field(default_factory=lambda: ["forward", "backward"])
