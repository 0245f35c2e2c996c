from dataclasses import dataclass


@dataclass
class Recipe:
    layers: int = 3
    experts: int = 4
    dim: int = 16
    bits: int = 4
    calibration_batches: int = 6
    expert_ranks: tuple = (0, 1)
    seed: int = 5
