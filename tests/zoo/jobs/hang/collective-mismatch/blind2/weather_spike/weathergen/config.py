from dataclasses import dataclass


@dataclass(frozen=True)
class TrainConfig:
    num_epochs: int = 3
    samples_per_epoch: int = 12
    batch_size: int = 8
    grid: int = 20
    hidden: int = 48
    lr: float = 2e-3
    spike_window: int = 6
    spike_factor: float = 8.0
    grad_clip: float = 1.0
