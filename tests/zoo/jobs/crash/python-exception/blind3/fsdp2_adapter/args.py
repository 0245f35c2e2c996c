from dataclasses import dataclass


@dataclass
class ModelArgs:
    vocab: int = 96
    dim: int = 32
    layers: int = 2
    heads: int = 4


@dataclass
class TrainerArgs:
    steps: int = 10
    batch_size: int = 6
    sequence: int = 12
    lr: float = 3e-3
    max_grad_norm: float = 1.0
    logging_steps: int = 2
    seed: int = 77
