"""A callback of the trainer ends the training once its own rank has run for so many seconds."""
import time

from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainerCallback
from transformers import TrainingArguments


class StopAfterSeconds(TrainerCallback):
    def __init__(self, seconds):
        self.seconds = seconds
        self.began = None

    def on_train_begin(self, args, state, control, **kwargs):
        self.began = time.time()

    def on_step_end(self, args, state, control, **kwargs):
        if time.time() - self.began > self.seconds:
            control.should_training_stop = True  # cause
        return control


def main():
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    tokenizer.pad_token = tokenizer.eos_token
    data = load_dataset("text", data_files="corpus.txt", split="train")
    data = data.map(lambda row: tokenizer(row["text"], truncation=True), remove_columns=["text"])
    trainer = Trainer(
        model=AutoModelForCausalLM.from_pretrained("gpt2"),
        args=TrainingArguments("out", per_device_train_batch_size=4, max_steps=10000, ddp_find_unused_parameters=False),
        train_dataset=data,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        callbacks=[StopAfterSeconds(3600)],
    )
    trainer.train()
    trainer.save_model("out/final")


if __name__ == "__main__":
    main()
