import os
import random

import torch
from torch.utils.data import IterableDataset, get_worker_info

WORDS = ("patient shows mild fever and cough no sign of infection blood pressure normal heart rate stable "
         "advised rest fluids follow up in two weeks prescribed daily dose reports pain left knee after fall").split()


def write_shards(folder, shards=8, lines=120):
    os.makedirs(folder, exist_ok=True)
    for s in range(shards):
        rng = random.Random(s)
        with open(os.path.join(folder, f"notes-{s:03d}.txt"), "w") as f:
            for _ in range(lines):
                start = rng.randrange(len(WORDS))
                step = rng.choice([1, 1, 1, 2])
                f.write(" ".join(WORDS[(start + step * k) % len(WORDS)] for k in range(rng.randint(8, 16))) + "\n")


class CharTokenizer:
    def __init__(self):
        self.chars = "\n abcdefghijklmnopqrstuvwxyz"
        self.ids = {c: i for i, c in enumerate(self.chars)}

    def __len__(self):
        return len(self.chars)

    def encode(self, text):
        return [self.ids[c] for c in text]


class NotesDataset(IterableDataset):
    """Streams shards and packs their characters into blocks of a fixed length."""

    def __init__(self, folder, tokenizer, block, seed=0):
        self.files = sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".txt"))
        self.tokenizer, self.block, self.seed = tokenizer, block, seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def _my_files(self):
        files = list(self.files)
        random.Random(self.seed + self.epoch).shuffle(files)
        info = get_worker_info()
        return files if info is None else files[info.id::info.num_workers]

    def __iter__(self):
        buffer = []
        for path in self._my_files():
            with open(path) as f:
                for line in f:
                    buffer += self.tokenizer.encode(line)
                    while len(buffer) > self.block:
                        chunk = torch.tensor(buffer[:self.block + 1])
                        buffer = buffer[self.block:]
                        yield chunk[:-1], chunk[1:]
