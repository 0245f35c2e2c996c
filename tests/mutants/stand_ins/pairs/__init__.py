"""Made-up sentence pairs as tokens, and a small model for them."""

import torch
from torch.utils.data import Dataset
from transformers import BatchEncoding, BertConfig, BertForSequenceClassification


class Pairs(Dataset):
    def __init__(self, count):
        chance = torch.Generator().manual_seed(count)
        self.ids = torch.randint(5, 90, (count, 24), generator=chance)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.ids[index, 0] % 2}


def collate(rows):
    return BatchEncoding({name: torch.stack([row[name] for row in rows]) for name in rows[0]})


def small_bert():
    return BertForSequenceClassification(
        BertConfig(vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
    )
