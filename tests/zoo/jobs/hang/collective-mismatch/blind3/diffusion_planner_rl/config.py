from dataclasses import dataclass


@dataclass
class PlannerConfig:
    horizon: int = 24
    agents: int = 40
    features: int = 10
    bins: int = 96
    scenes: int = 16
    replay_epochs: int = 3
    steps: int = 5
    lr: float = 1e-2
    seed: int = 31
