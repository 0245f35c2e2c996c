from dataclasses import dataclass, field
from typing import Optional


@dataclass
class ModelArguments:
    vocab_size: int = 128
    hidden_size: int = 32
    num_layers: int = 2
    model_path: Optional[str] = None
    init_device: str = "meta"


@dataclass
class TrainArguments:
    max_steps: int = 24
    micro_batch_size: int = 8
    seq_len: int = 16
    lr: float = 2e-3
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    log_steps: int = 6
    seed: int = 42


@dataclass
class Arguments:
    model: ModelArguments = field(default_factory=ModelArguments)
    train: TrainArguments = field(default_factory=TrainArguments)
