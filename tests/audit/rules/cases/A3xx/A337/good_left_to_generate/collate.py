IGNORE = -100


class Collator:
    def __init__(self, processor):
        self.processor = processor

    def __call__(self, rows):
        prompts = [row["prompt"] for row in rows]
        full = [row["prompt"] + row["answer"] for row in rows]
        batch = self.processor(text=full, padding=True, return_tensors="pt")
        prefix = self.processor(text=prompts, padding=True, return_tensors="pt")
        lengths = prefix["attention_mask"].sum(dim=1)
        labels = batch["input_ids"].clone()
        labels[batch["attention_mask"] == 0] = IGNORE
        for i, length in enumerate(lengths.tolist()):
            labels[i, :length] = IGNORE
        batch["labels"] = labels
        return batch
