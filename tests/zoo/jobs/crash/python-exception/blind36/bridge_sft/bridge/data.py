import torch
from torch.utils.data import DataLoader, Dataset

from .samplers import PretrainingSampler


class SFTDataset(Dataset):
    """Prompt and answer pairs of different lengths."""

    def __init__(self, n, vocab, max_len, seed):
        g = torch.Generator().manual_seed(seed)
        self.samples = []
        for _ in range(n):
            length = int(torch.randint(6, max_len, (1,), generator=g))
            tokens = torch.randint(3, vocab, (length,), generator=g)
            tokens[1::2] = (tokens[0::2][: len(tokens[1::2])] * 3 + 1) % vocab
            self.samples.append((tokens, int(length // 3)))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        tokens, prompt = self.samples[i]
        return {"input_ids": tokens, "prompt": prompt}


def pad_to_multiple(length, multiple):
    return (length + multiple - 1) // multiple * multiple


def collate_fn(batch, pad_id=0, multiple=8):
    keys = batch[0].keys()
    columns = {key: [item[key] for item in batch] for key in keys}
    width = pad_to_multiple(max(len(t) for t in columns["input_ids"]), multiple)
    ids = torch.full((len(batch), width), pad_id)
    mask = torch.zeros(len(batch), width)
    for row, (tokens, prompt) in enumerate(zip(columns["input_ids"], columns["prompt"])):
        ids[row, : len(tokens)] = tokens
        mask[row, prompt : len(tokens)] = 1
    return {"input_ids": ids, "loss_mask": mask}


def build_dataloader(dataset, cfg, rank, world, consumed=0, drop_last=None):
    sampler = PretrainingSampler(
        total_samples=len(dataset),
        consumed_samples=consumed,
        micro_batch_size=cfg["micro_batch_size"],
        rank=rank,
        world_size=world,
        drop_last=cfg["drop_last"] if drop_last is None else drop_last,
    )
    return DataLoader(dataset, batch_sampler=sampler, collate_fn=collate_fn, num_workers=cfg["num_workers"])
