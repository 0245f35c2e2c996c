from dataclasses import dataclass


@dataclass
class Settings:
    iterations: int = 100
    horizon: int = 64
    n_envs: int = 16
    update_epochs: int = 4
    minibatches: int = 4
    clip: float = 0.2
    target_kl: float = 0.012
    lr: float = 1e-3
    gamma: float = 0.98
    seed: int = 3
