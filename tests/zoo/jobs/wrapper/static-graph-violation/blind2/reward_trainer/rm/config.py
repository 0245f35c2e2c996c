from dataclasses import dataclass


@dataclass
class RewardConfig:
    vocab: int = 120
    dim: int = 32
    layers: int = 2
    max_length: int = 24
    per_device_train_batch_size: int = 8
    max_steps: int = 30
    learning_rate: float = 5e-4
    gradient_checkpointing: bool = True
    center_rewards_coefficient: float = 0.01
    logging_steps: int = 5
