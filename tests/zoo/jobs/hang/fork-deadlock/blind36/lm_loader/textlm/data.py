import random

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

SUBJECTS = "model gradient kernel network optimizer tensor layer loader".split()
VERBS = "updates computes reduces shards loads projects scales drops".split()
OBJECTS = "weights samples logits queries buckets frames labels norms".split()


def corpus(n, seed=3):
    rng = random.Random(seed)
    pick = lambda: f"the {rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(OBJECTS)}"
    return [", and ".join(pick() for _ in range(rng.randint(1, 4))) + "." for _ in range(n)]


class Documents(Dataset):
    def __init__(self, texts):
        self.texts = texts

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return self.texts[i]


class Collate:
    def __init__(self, tokenizer, max_len):
        self.tokenizer, self.max_len = tokenizer, max_len

    def __call__(self, texts):
        encoded = [ids[: self.max_len] for ids in self.tokenizer.encode_batch(texts)]
        out = torch.zeros(len(encoded), max(map(len, encoded)), dtype=torch.long)
        for row, ids in enumerate(encoded):
            out[row, : len(ids)] = torch.tensor(ids)
        return out


def make_loader(texts, tokenizer, args, rank, world):
    sampler = DistributedSampler(Documents(texts), world, rank, shuffle=True, seed=args.seed, drop_last=True)
    return DataLoader(sampler.dataset, batch_size=args.batch_size, sampler=sampler, num_workers=args.workers,
                      collate_fn=Collate(tokenizer, args.max_len), persistent_workers=args.workers > 0)
