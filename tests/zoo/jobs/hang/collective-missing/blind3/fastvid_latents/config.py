from dataclasses import dataclass


@dataclass
class DataConfig:
    num_shards: int = 6
    rows_per_shard: int = 16
    latent_dim: int = 24
    batch_size: int = 8
    # spreads the first metadata requests over the shared file system
    stagger_seconds: float = 1.5


@dataclass
class TrainingConfig:
    steps: int = 12
    lr: float = 1e-3
    hidden: int = 32
    seed: int = 7
