from dataclasses import dataclass


@dataclass
class TTSConfig:
    max_steps: int = 100_000
    ckpt_freq: int = 50_000
    log_freq: int = 20
    features: int = 20
    batch_size: int = 16
    lr: float = 0.02
    warning_after: float = 3.0
    seed: int = 90
