from dataclasses import dataclass

import torch


@dataclass
class Options:
    weight_dtype: str = "bfloat16"
    use_ema: bool = True
    ema_decay: float = 0.995
    steps: int = 500
    batch_size: int = 16
    lr: float = 5e-4
    warmup: int = 20
    width: int = 12
    eval_every: int = 100
    seed: int = 5

    @property
    def dtype(self):
        return getattr(torch, self.weight_dtype)
