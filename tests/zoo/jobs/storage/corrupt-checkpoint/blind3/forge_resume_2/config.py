from dataclasses import dataclass
from pathlib import Path


@dataclass
class CheckpointConfig:
    dir: Path = Path(__file__).parent / "saved" / "pretrain"
    resume: str = "auto"


@dataclass
class JobConfig:
    dim: int = 16
    total_steps: int = 60
    batch_size: int = 8
    lr: float = 1e-2
    seed: int = 6
