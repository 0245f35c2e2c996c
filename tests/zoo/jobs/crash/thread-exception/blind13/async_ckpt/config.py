import dataclasses
import tempfile
from typing import Callable


@dataclasses.dataclass
class Config:
    steps: int = 60
    save_every: int = 20
    lr: float = 1e-3
    out: str = dataclasses.field(default_factory=lambda: tempfile.gettempdir() + "/async_ckpt_out")
    warmup: Callable[[int], float] = lambda step: min(1.0, (step + 1) / 10)
