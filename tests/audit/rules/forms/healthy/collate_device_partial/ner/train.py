import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from ner.batching import ToDevice, build_loader


class Tagger(nn.Module):
    def __init__(self, vocab, tags, dim=256):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, 2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * dim, tags)

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])


def token_accuracy(logits, tags):
    known = tags != -100
    return (logits.argmax(-1)[known] == tags[known]).float().mean()


def train(rows, vocab, tags, pad_id=0, epochs=10, batch=32):
    local = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    model = DDP(Tagger(vocab, tags).to(device), device_ids=[local])
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader, sampler = build_loader(rows, pad_id, batch)
    place = ToDevice(device)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for b in loader:
            b = place(b)
            logits = model(b["ids"])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), b["tags"].flatten(), ignore_index=-100)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        acc = token_accuracy(logits, b["tags"])
        dist.all_reduce(acc, op=dist.ReduceOp.AVG)
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f} acc {acc.item():.3f}", flush=True)
    dist.destroy_process_group()
