from transformers import HfArgumentParser, Trainer, TrainingArguments

from model import data, metrics, network

(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
Trainer(model=network(), args=args, train_dataset=data("train"), eval_dataset=data("test"),
        compute_metrics=metrics).train()
