from transformers import AutoTokenizer


def make_collate(name):
    tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")

    def collate(rows):
        batch = tokenizer([row["text"] for row in rows], padding="longest", return_tensors="pt")
        labels = batch.input_ids.clone()
        labels[:, : -rows[0]["answer_tokens"]] = -100  # every answer is as long, and ends the row
        return {**batch, "labels": labels}

    return collate
