import torch


def encode(rows, tokenizer):
    encoded = []
    sample = {}
    for number, row in enumerate(rows):
        ids = tokenizer(row["text"])
        sample["input_ids"] = ids
        sample["label"] = row["label"]
        encoded.append(sample)
    torch.save(encoded, "encoded.pt")
