from transformers import HfArgumentParser, Trainer, TrainingArguments

from model import data, network

(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
Trainer(model=network(), args=args, train_dataset=data("train"), eval_dataset=data("test")).train()
