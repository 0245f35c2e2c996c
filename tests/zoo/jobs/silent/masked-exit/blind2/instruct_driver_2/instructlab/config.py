from dataclasses import dataclass, field


@dataclass
class TorchrunArgs:
    nproc_per_node: int = 2
    nnodes: int = 1
    rdzv_id: int = 123


@dataclass
class TrainingArgs:
    data_path: str = "data/skills.jsonl"
    max_seq_len: int = 32
    effective_batch_size: int = 16
    num_epochs: int = 3
    learning_rate: float = 2e-3
    vocab_size: int = 64
    torchrun: TorchrunArgs = field(default_factory=TorchrunArgs)
