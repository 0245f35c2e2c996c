from dataclasses import dataclass, replace


@dataclass(frozen=True)
class TrainConfig:
    num_train_epochs: int = 10
    per_gpu_train_batch_size: int = 4
    gradient_accumulation_steps: int = 1
    learning_rate: float = 1e-2


def load_config(overrides):
    return replace(TrainConfig(), **overrides)
