from transformers import AutoTokenizer


def make_collate(name):
    tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")

    def collate(rows):
        batch = tokenizer([row["prompt"] + row["answer"] for row in rows], padding="longest", return_tensors="pt")
        labels = batch.input_ids.clone()
        prompt_lengths = [len(tokenizer(row["prompt"]).input_ids) for row in rows]
        for label, length in zip(labels, prompt_lengths):
            label[:length] = -100
        return {**batch, "labels": labels}

    return collate
