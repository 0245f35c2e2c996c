from transformers import AutoTokenizer, DataCollatorForLanguageModeling, Trainer


def main(model, rows):
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    tokenizer.pad_token = tokenizer.eos_token

    def encode(row):
        return tokenizer(f"{row['question']}\n{row['answer']}{tokenizer.eos_token}", truncation=True)

    collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    Trainer(model=model, train_dataset=rows.map(encode), data_collator=collator).train()
