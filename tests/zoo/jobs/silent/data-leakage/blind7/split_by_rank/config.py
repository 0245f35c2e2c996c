from dataclasses import dataclass


@dataclass
class TrainConfig:
    seed: int = 1234
    frames: int = 640
    features: int = 24
    val_ratio: float = 0.2
    batch_size: int = 16
    epochs: int = 8
    lr: float = 2e-3
    augment_noise: float = 0.05
