from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments, default_data_collator

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token


def tokenize(rows):
    out = tokenizer(rows["text"], truncation=True, padding="max_length", max_length=512)
    out["labels"] = out["input_ids"].copy()
    return out


def main():
    data = load_dataset("text", data_files="train.txt")["train"].map(tokenize, batched=True, remove_columns=["text"])
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    Trainer(
        model=model,
        args=TrainingArguments("out", per_device_train_batch_size=4),
        train_dataset=data,
        data_collator=default_data_collator,
    ).train()


if __name__ == "__main__":
    main()
