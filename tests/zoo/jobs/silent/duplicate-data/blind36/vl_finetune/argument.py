import argparse
from dataclasses import dataclass, field, fields


@dataclass
class ModelArguments:
    hidden: int = 48
    tune_mm_vision: bool = True
    tune_mm_mlp: bool = True


@dataclass
class DataArguments:
    dataset_use: str = "captions,ocr%75,charts"
    data_root: str = "annotations"
    max_samples: int = 480


@dataclass
class TrainingArguments:
    output_dir: str = "output"
    num_train_epochs: int = 4
    per_device_train_batch_size: int = 12
    gradient_accumulation_steps: int = 2
    learning_rate: float = 4e-3
    warmup_ratio: float = 0.1
    seed: int = 42


def parse(*classes):
    parser = argparse.ArgumentParser()
    for cls in classes:
        for f in fields(cls):
            kind = (lambda v: v.lower() in ("1", "true", "yes")) if f.type is bool else f.type
            parser.add_argument(f"--{f.name}", type=kind, default=f.default)
    values = vars(parser.parse_args())
    return tuple(cls(**{f.name: values[f.name] for f in fields(cls)}) for cls in classes)
