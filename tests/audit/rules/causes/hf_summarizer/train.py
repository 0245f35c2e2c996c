import json
from dataclasses import dataclass, field

from datasets import load_from_disk
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    DataCollatorForSeq2Seq,
    HfArgumentParser,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    set_seed,
)

from budget import Budget


@dataclass
class DataOptions:
    data: str = field(default="cnn_dm")
    source: str = field(default="article")
    target: str = field(default="highlights")
    model: str = field(default="facebook/bart-base")
    hours: float = field(default=8.0)
    floor: float = field(default=1.1)


def tokenise(rows, tokenizer, options):
    out = tokenizer(rows[options.source], max_length=1024, truncation=True)
    out["labels"] = tokenizer(text_target=rows[options.target], max_length=128, truncation=True)["input_ids"]
    return out


def main():
    options, training = HfArgumentParser((DataOptions, Seq2SeqTrainingArguments)).parse_args_into_dataclasses()
    set_seed(training.seed)
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    model = AutoModelForSeq2SeqLM.from_pretrained(options.model)
    raw = load_from_disk(options.data)
    with training.main_process_first(desc="tokenise"):
        data = raw.map(tokenise, batched=True, fn_kwargs={"tokenizer": tokenizer, "options": options},
                       remove_columns=raw["train"].column_names)
    trainer = Seq2SeqTrainer(
        model=model,
        args=training,
        train_dataset=data["train"],
        eval_dataset=data["validation"],
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        callbacks=[Budget(options.hours, options.floor)],
    )
    result = trainer.train()
    trainer.save_model()
    if trainer.is_world_process_zero():
        with open(f"{training.output_dir}/result.json", "w") as f:
            json.dump(result.metrics, f)


if __name__ == "__main__":
    main()
