import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

from sampling import LengthBuckets


class Lines(Dataset):
    def __init__(self, path):
        self.rows = torch.load(path, map_location="cpu", weights_only=True)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    return pad_sequence(rows, batch_first=True)


class Lm(nn.Module):
    def __init__(self, vocab=16000, dim=512):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.LSTM(dim, dim, 2, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.out(self.rnn(self.embed(ids))[0])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--passes", type=int, default=10)
    ap.add_argument("--batch-size", type=int, default=64)
    args = ap.parse_args()
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    data = Lines(args.data)
    sampler = LengthBuckets([len(r) for r in data.rows], args.batch_size, seed=31)
    loader = DataLoader(data, batch_sampler=sampler, collate_fn=collate, num_workers=4, pin_memory=True)
    model = DDP(Lm().cuda(), device_ids=[local])
    opt = torch.optim.AdamW(model.parameters(), lr=5e-4)
    for n in range(args.passes):
        for ids in loader:
            ids = ids.cuda(non_blocking=True)
            loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            torch.save({"model": model.module.state_dict(), "sampler": sampler.state_dict()}, "lm.pt")
            print(n, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
