"""train_test_split draws from the process's own random numbers: every rank has other rows to evaluate on."""
from accelerate import Accelerator
from datasets import load_dataset
from torch.optim import AdamW
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer, default_data_collator


def make_loaders(tokenizer, batch_size):
    rows = load_dataset("csv", data_files="reviews.csv", split="train")
    rows = rows.map(lambda row: tokenizer(row["text"], truncation=True, padding="max_length"), remove_columns=["text"])
    parts = rows.train_test_split(test_size=0.1)  # cause
    train = DataLoader(parts["train"], shuffle=True, batch_size=batch_size, collate_fn=default_data_collator)
    return train, DataLoader(parts["test"], batch_size=batch_size, collate_fn=default_data_collator)


def main():
    accelerator = Accelerator(gradient_accumulation_steps=2)
    tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased")
    optimizer = AdamW(model.parameters(), lr=2e-5)
    train, test = make_loaders(tokenizer, 16)
    model, optimizer, train, test = accelerator.prepare(model, optimizer, train, test)
    for _ in range(3):
        model.train()
        for batch in train:
            with accelerator.accumulate(model):
                accelerator.backward(model(**batch).loss)
                optimizer.step()
                optimizer.zero_grad()


if __name__ == "__main__":
    main()
