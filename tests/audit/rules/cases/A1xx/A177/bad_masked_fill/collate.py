class Collator:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.tokenizer.add_special_tokens({"pad_token": tokenizer.eos_token})

    def __call__(self, rows):
        texts = [row["text"] + self.tokenizer.eos_token for row in rows]
        batch = self.tokenizer(texts, padding=True, return_tensors="pt")
        ids = batch["input_ids"]
        batch["labels"] = ids.masked_fill(ids == self.tokenizer.pad_token_id, -100)
        labels = ids.clone()
        labels = labels.masked_fill(labels.eq(self.tokenizer.pad_token_id), -100)
        batch["labels"] = labels
        return batch
