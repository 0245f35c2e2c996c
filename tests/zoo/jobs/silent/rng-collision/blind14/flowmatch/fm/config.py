import argparse
from dataclasses import dataclass, fields


@dataclass
class Config:
    world_size: int = 2
    seed: int = 42
    dim: int = 24
    points: int = 2048
    batch_size: int = 32
    epochs: int = 6
    lr: float = 2e-3
    width: int = 128
    beta_a: float = 1.5
    log_every: int = 32

    @classmethod
    def parse(cls):
        p = argparse.ArgumentParser()
        for f in fields(cls):
            p.add_argument("--" + f.name.replace("_", "-"), type=f.type if callable(f.type) else {"int": int, "float": float}[f.type], default=f.default)
        return cls(**vars(p.parse_args()))
