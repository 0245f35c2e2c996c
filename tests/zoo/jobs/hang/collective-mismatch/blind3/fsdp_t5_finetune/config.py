from dataclasses import dataclass


@dataclass
class TrainConfig:
    model_dim: int = 16
    hidden: int = 32
    epochs: int = 5
    train_batches: int = 12
    val_batches: int = 4
    batch_size: int = 16
    lr: float = 0.08
    seed: int = 100
    checkpoint_folder: str = "fine-tuned"
