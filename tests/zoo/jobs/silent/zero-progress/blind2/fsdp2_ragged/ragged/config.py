import argparse
from dataclasses import dataclass, fields


@dataclass
class Config:
    width: int = 32
    depth: int = 3
    features: int = 12
    steps: int = 80
    batch_size: int = 32
    lr: float = 3e-3
    warmup: int = 10
    weight_decay: float = 0.01
    log_every: int = 20

    @classmethod
    def from_args(cls):
        parser = argparse.ArgumentParser()
        for f in fields(cls):
            parser.add_argument(f"--{f.name}", type=f.type, default=f.default)
        return cls(**vars(parser.parse_args()))
