import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from accumulate import Accumulator, mean_over_ranks


class ResidueLM(nn.Module):
    def __init__(self, vocab=33, dim=320, depth=6):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        block = nn.TransformerEncoderLayer(dim, 8, dim * 4, batch_first=True, norm_first=True)
        self.trunk = nn.TransformerEncoder(block, depth, enable_nested_tensor=False)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens, labels):
        logits = self.head(self.trunk(self.embed(tokens)))
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("tensors")
    ap.add_argument("--grad-accum", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=5)
    a = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    blob = torch.load(a.tensors, map_location="cpu")
    data = TensorDataset(blob["tokens"], blob["labels"])
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=4, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(ResidueLM().cuda(), device_ids=[local])
    acc = Accumulator(model, torch.optim.AdamW(model.parameters(), lr=4e-4), a.grad_accum)
    index = 0
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for tokens, labels in loader:
            loss = acc.micro(index, tokens.cuda(), labels.cuda())
            index += 1
            if acc.boundary(index - 1) and acc.updates % 20 == 0:
                shown = mean_over_ranks(loss)
                if dist.get_rank() == 0:
                    print(acc.updates, shown.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
