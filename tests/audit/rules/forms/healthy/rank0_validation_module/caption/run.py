import os
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from caption.stopper import SharedStopper


class Captioner(nn.Module):
    def __init__(self, vocab=12000, feat=2048, dim=512):
        super().__init__()
        self.inp = nn.Linear(feat, dim)
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, feats, words):
        h = self.inp(feats.mean(1))[None]
        return self.out(self.rnn(self.emb(words), (h, torch.zeros_like(h)))[0])


@torch.no_grad()
def next_word_accuracy(net, loader):
    net.eval()
    hit = seen = 0
    for feats, words in loader:
        words = words.cuda()
        guess = net(feats.cuda(), words[:, :-1]).argmax(-1)
        known = words[:, 1:] != 0
        hit += (guess[known] == words[:, 1:][known]).sum().item()
        seen += known.sum().item()
    net.train()
    return hit / max(seen, 1)


def main(train, val, epochs=40):
    local = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(hours=1))
    model = DistributedDataParallel(Captioner().to(device), device_ids=[local])
    opt = torch.optim.Adam(model.parameters(), 4e-4)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, 64, sampler=sampler, drop_last=True, num_workers=4)
    val_loader = DataLoader(val, 128, num_workers=2) if dist.get_rank() == 0 else None
    stopper = SharedStopper(5, device)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for feats, words in loader:
            words = words.to(device)
            logits = model(feats.to(device), words[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten(), ignore_index=0)
            opt.zero_grad()
            loss.backward()
            opt.step()
        score = 0.0
        if dist.get_rank() == 0:
            score = next_word_accuracy(model.module, val_loader)
            print(f"epoch {epoch} accuracy {score:.4f}", flush=True)
        improved, stop = stopper(score)
        if improved and dist.get_rank() == 0:
            torch.save(model.module.state_dict(), "caption_best.pt")
        if stop:
            break
    dist.barrier()
    dist.destroy_process_group()
