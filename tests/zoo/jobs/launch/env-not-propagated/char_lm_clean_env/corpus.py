from pathlib import Path

import torch

ALPHABET = "\n !,.'-:;?abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Tokenizer:
    def __init__(self, alphabet=ALPHABET):
        self.to_id = {c: i for i, c in enumerate(alphabet)}

    def encode(self, text):
        return [self.to_id[c] for c in text]


def load_shard(folder, rank):
    text = Path(folder, f"part-{rank:02d}.txt").read_text()
    return torch.tensor(Tokenizer().encode(text), dtype=torch.long)


def batches(tokens, context, batch_size, steps, seed):
    g = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        starts = torch.randint(len(tokens) - context - 1, (batch_size,), generator=g)
        x = torch.stack([tokens[s : s + context] for s in starts])
        y = torch.stack([tokens[s + 1 : s + 1 + context] for s in starts])
        yield x, y
