import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from scoring import CorpusBleu

PAD, BOS, EOS, VOCAB, DIM = 0, 1, 2, 16000, 512


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM, padding_idx=PAD)
        self.core = nn.Transformer(DIM, 8, 4, 4, 1024, batch_first=True)
        self.out = nn.Linear(DIM, VOCAB)

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1), device=tgt.device)
        return self.out(self.core(self.embed(src), self.embed(tgt), tgt_mask=mask))


@torch.no_grad()
def translate(net, src, limit=60):
    out = torch.full((len(src), 1), BOS, device=src.device)
    for _ in range(limit):
        out = torch.cat([out, net(src, out)[:, -1].argmax(-1, keepdim=True)], 1)
    return out[:, 1:]


def trim(row):
    row = row.tolist()
    return [t for t in row[:row.index(EOS)] if t != PAD] if EOS in row else [t for t in row if t != PAD]


def evaluate(net, loader, device):
    net.eval()
    bleu = CorpusBleu(device)
    for src, ref in loader:
        for h, r in zip(translate(net, src.to(device)), ref):
            bleu.update(trim(h), trim(r[1:]))
    return bleu.compute()  # cause


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    torch.manual_seed(12)
    blob = torch.load("wmt.pt", map_location="cpu")
    train, dev = TensorDataset(*blob["train"]), TensorDataset(*blob["dev"])
    sampler = DistributedSampler(train)
    loader = DataLoader(train, 64, sampler=sampler, drop_last=True)
    dev_loader = DataLoader(dev, 64, sampler=DistributedSampler(dev, shuffle=False))
    model = DDP(Seq2Seq().cuda(), device_ids=[local])
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-4)
    for epoch in range(30):
        sampler.set_epoch(epoch)
        model.train()
        for src, tgt in loader:
            src, tgt = src.cuda(), tgt.cuda()
            logits = model(src, tgt[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:  # cause
            score = evaluate(model.module, dev_loader, torch.device("cuda", local))  # cause
            print(f"epoch {epoch} BLEU {score:.2f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
