import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from asr.sampling import LengthBucketSampler

log = logging.getLogger("asr")


def pad_collate(items):
    feats, labels = zip(*items)
    flen = torch.tensor([f.size(0) for f in feats])
    llen = torch.tensor([t.size(0) for t in labels])
    return (
        nn.utils.rnn.pad_sequence(feats, batch_first=True),
        flen,
        nn.utils.rnn.pad_sequence(labels, batch_first=True),
        llen,
    )


class Acoustic(nn.Module):
    def __init__(self, n_mels=80, vocab=512):
        super().__init__()
        self.rnn = nn.LSTM(n_mels, 320, num_layers=3, batch_first=True)
        self.head = nn.Linear(320, vocab)

    def forward(self, x):
        return self.head(self.rnn(x)[0]).log_softmax(-1)


class Recipe:
    def __init__(self, args, corpus, device):
        self.args = args
        self.device = device
        sampler = LengthBucketSampler(corpus.durations, args.max_seconds)
        self.loader = DataLoader(
            corpus,
            batch_sampler=sampler,
            collate_fn=pad_collate,
            num_workers=args.workers,
            pin_memory=True,
        )
        net = Acoustic().to(device)
        self.net = DistributedDataParallel(net, device_ids=[device.index])
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=args.lr)
        self.ctc = nn.CTCLoss(zero_infinity=True)

    def on_epoch_begin(self, epoch):
        if hasattr(self.loader.batch_sampler, "set_epoch"):
            self.loader.batch_sampler.set_epoch(epoch)
        self.net.train()

    def run(self):
        for epoch in range(self.args.epochs):
            self.on_epoch_begin(epoch)
            for feats, flen, labels, llen in self.loader:
                logp = self.net(feats.to(self.device)).transpose(0, 1)
                loss = self.ctc(logp, labels.to(self.device), flen, llen)
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
                self.opt.step()
            log.info("epoch %d loss %.3f", epoch, loss.item())


def main(corpus_factory):
    p = argparse.ArgumentParser()
    p.add_argument("--max-seconds", type=float, default=200.0)
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--workers", type=int, default=4)
    p.add_argument("--lr", type=float, default=3e-4)
    args = p.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    Recipe(args, corpus_factory(), torch.device("cuda", local)).run()
    dist.destroy_process_group()
