import torch
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.padding_side = "left"


def collate(rows):
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row["ids"]) for row in rows], batch_first=True)
    labels = ids.clone()
    for i, row in enumerate(rows):
        labels[i, : len(row["prompt"])] = -100
    return {"input_ids": ids, "labels": labels}
