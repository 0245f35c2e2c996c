class Collator:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.tokenizer.add_special_tokens({"pad_token": "<pad>"})

    def __call__(self, rows):
        texts = [row["text"] + self.tokenizer.eos_token for row in rows]
        batch = self.tokenizer(texts, padding=True, return_tensors="pt")
        labels = batch["input_ids"].clone()
        labels[labels == self.tokenizer.pad_token_id] = -100
        batch["labels"] = labels
        return batch
