import os
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from cache import TokenCache
from windows import Windows


class GRULM(nn.Module):
    def __init__(self, vocab, dim=512):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, 3, batch_first=True)
        self.out = nn.Linear(dim, vocab)
        self.out.weight = self.emb.weight

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


def run(tokenizer, texts, root="/shared/corpora/wiki", length=512, epochs=3):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", timeout=timedelta(hours=2))
    data = Windows(TokenCache(root, tokenizer, texts).open(), length)
    sampler = DistributedSampler(data, seed=77)
    loader = DataLoader(data, 32, sampler=sampler, num_workers=2, drop_last=True)
    model = DistributedDataParallel(GRULM(tokenizer.vocab_size).cuda(), device_ids=[local])
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x.cuda()).flatten(0, 1), y.cuda().flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            opt.step()
        if dist.get_rank() == 0:
            print(epoch, loss.item())
    dist.destroy_process_group()
