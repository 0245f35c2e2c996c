import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from safe_step import StepRunner


class Documents(Dataset):
    def __init__(self, path):
        self.rows = torch.load(path, map_location="cpu")

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    ids = pad_sequence(rows, batch_first=True)
    return ids[:, :-1], ids[:, 1:]


class LM(nn.Module):
    def __init__(self, vocab, dim=768, depth=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        layer = nn.TransformerEncoderLayer(dim, 12, 4 * dim, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids, labels):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1], device=ids.device)
        logits = self.head(self.body(self.embed(ids), mask=mask, is_causal=True))
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=0)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("rows")
    ap.add_argument("--vocab", type=int, default=50000)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    data = Documents(args.rows)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 4, sampler=sampler, collate_fn=collate, num_workers=2, drop_last=True)
    model = DDP(LM(args.vocab).to(local), device_ids=[local])
    run = StepRunner(model, torch.optim.AdamW(model.parameters(), 1e-4))
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for ids, labels in loader:
            run(ids.to(local), labels.to(local))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
