import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Utterances(Dataset):
    def __init__(self, manifest):
        blob = torch.load(manifest, map_location="cpu")
        self.feats, self.targets = blob["feats"], blob["targets"]
        self.flen, self.tlen = blob["feat_len"], blob["target_len"]

    def __len__(self):
        return len(self.feats)

    def __getitem__(self, i):
        return self.feats[i], self.targets[i], self.flen[i], self.tlen[i]


class Acoustic(nn.Module):
    def __init__(self, n_mels=80, hidden=512, vocab=64):
        super().__init__()
        self.rnn = nn.GRU(n_mels, hidden, num_layers=4, batch_first=True)
        self.head = nn.Linear(hidden, vocab)

    def forward(self, x):
        return self.head(self.rnn(x)[0]).log_softmax(-1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--manifest", required=True)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--epochs", type=int, default=30)
    args = ap.parse_args()
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    ds = Utterances(args.manifest)
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, batch_size=16, sampler=sampler, num_workers=4)
    model = DDP(Acoustic().cuda(gpu), device_ids=[gpu])
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y, xl, yl in loader:
            logp = model(x.cuda(gpu)).transpose(0, 1)
            loss = nn.functional.ctc_loss(logp, y.cuda(gpu), xl.cuda(gpu), yl.cuda(gpu), zero_infinity=True)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
        if dist.get_rank() == 0:
            torch.save(model.module.state_dict(), args.out / "last.pt")
            print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
