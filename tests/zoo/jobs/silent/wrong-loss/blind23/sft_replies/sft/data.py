import random

import torch
from torch.utils.data import Dataset

ITEMS = ["cup", "lamp", "chair", "desk", "pen", "book", "fan", "rug"]
STATES = {"late": "sorry", "sent": "on its way", "lost": "we refund", "paid": "thanks"}


class OrderReplies(Dataset):
    def __init__(self, tokenizer, n, seed):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(n):
            item, state = rng.choice(ITEMS), rng.choice(sorted(STATES))
            prompt = f"{item} {state}"
            answer = f"{item}: {STATES[state]}."
            head = [tokenizer.bos_token_id, tokenizer.inst] + tokenizer.encode(prompt) + [tokenizer.end_inst]
            self.rows.append((head, tokenizer.encode(answer) + [tokenizer.eos_token_id]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


class CausalCollator:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __call__(self, rows):
        longest = max(len(h) + len(a) for h, a in rows)
        pad = self.tokenizer.pad_token_id
        input_ids = torch.full((len(rows), longest), pad)
        for row, (head, answer) in enumerate(rows):
            ids = torch.tensor(head + answer)
            input_ids[row, : len(ids)] = ids
        labels = input_ids.clone()
        labels[labels == pad] = -100
        return {"input_ids": input_ids, "labels": labels}
