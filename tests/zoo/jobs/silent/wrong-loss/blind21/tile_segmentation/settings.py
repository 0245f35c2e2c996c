from dataclasses import dataclass, field


@dataclass
class AugmentSettings:
    flip_p: float = 0.5
    rotate: bool = True
    brightness: float = 0.15


@dataclass
class Settings:
    tiles: int = 640
    size: int = 32
    classes: int = 3
    batch_size: int = 16
    epochs: int = 8
    lr: float = 2e-3
    width: int = 16
    seed: int = 7
    augment: AugmentSettings = field(default_factory=AugmentSettings)
