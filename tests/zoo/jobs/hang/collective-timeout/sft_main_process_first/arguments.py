from dataclasses import dataclass


@dataclass
class TrainingArguments:
    ddp_timeout: int = 6
    max_samples: int = 4000
    preprocessing_rate: int = 250
    per_device_batch: int = 8
    max_steps: int = 20
    cache_file: str = "tokenized.pt"
