import random

import torch
from torch.utils.data import DataLoader, IterableDataset


def make_examples(num, vocab, seed):
    """Prompt/response pairs; the response is the reversed prompt."""
    rng = random.Random(seed)
    examples = []
    for _ in range(num):
        n = int(min(60, 4 + rng.expovariate(1 / 14)))
        prompt = [rng.randrange(3, vocab) for _ in range(n)]
        ids = [1] + prompt + [2] + prompt[::-1] + [0]
        mask = [False] * (n + 2) + [True] * (n + 1)
        examples.append({"input_ids": ids[:-1], "target_ids": ids[1:], "loss_mask": mask[1:]})
    return examples


class SFTDataset(IterableDataset):
    def __init__(self, examples, rank, world_size, max_epochs=None, shuffle=True, seed=0):
        self.examples = examples
        self.rank = rank
        self.world_size = world_size
        self.max_epochs = max_epochs
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self):
        epoch = 0
        while self.max_epochs is None or epoch < self.max_epochs:
            order = list(range(len(self.examples)))
            if self.shuffle:
                random.Random(self.seed + epoch).shuffle(order)
            for step, i in enumerate(order):
                if step % self.world_size == self.rank:
                    yield self.examples[i]
            epoch += 1


class CatDataset(IterableDataset):
    """Concatenates samples and cuts the stream into chunks of seq_len tokens."""

    def __init__(self, dataset, seq_len):
        self.dataset = dataset
        self.seq_len = seq_len

    def __iter__(self):
        packed = {"input_ids": [], "target_ids": [], "loss_mask": [], "position_ids": []}
        for sample in self.dataset:
            for k in ("input_ids", "target_ids", "loss_mask"):
                packed[k].extend(sample[k])
            packed["position_ids"].extend(range(len(sample["input_ids"])))
            while len(packed["input_ids"]) >= self.seq_len:
                yield {k: torch.tensor(v[: self.seq_len]) for k, v in packed.items()}
                packed = {k: v[self.seq_len :] for k, v in packed.items()}


def setup_dataloader(examples, config, world, train=True):
    dataset = SFTDataset(
        examples,
        world.rank,
        world.world_size,
        max_epochs=None if train else 1,
        seed=config.seed,
    )
    return DataLoader(CatDataset(dataset, config.data.seq_len), batch_size=config.data.micro_batch_size)
