import argparse
import logging
import random

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from corpus import SpeakerFrames, SyntheticCorpus
from features import FeatureCache, MelExtractor

log = logging.getLogger("tts")


class SpeakerNet(nn.Module):
    def __init__(self, bands=24, width=64, speakers=8):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(bands, width, 5, padding=2), nn.GELU(),
                                  nn.Conv1d(width, width, 5, padding=2), nn.GELU())
        self.out = nn.Linear(width, speakers)

    def forward(self, mel):
        return self.out(self.conv(mel).mean(-1))


def build(args):
    corpus = SyntheticCorpus()
    utts = list(corpus.utts)
    random.Random(args.seed).shuffle(utts)
    cut = int(0.9 * len(utts))
    cache = FeatureCache(corpus, MelExtractor())
    cache.prefill(utts)
    train, valid = SpeakerFrames(utts[:cut], cache), SpeakerFrames(utts[cut:], cache)
    sampler = DistributedSampler(train, seed=args.seed)
    loader = DataLoader(train, args.batch, sampler=sampler, num_workers=args.workers, drop_last=True)
    return loader, sampler, DataLoader(valid, args.batch, num_workers=args.workers)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--seed", type=int, default=5)
    args = p.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s r{dist.get_rank()} %(message)s")
    torch.manual_seed(args.seed)
    loader, sampler, valid = build(args)
    model = DDP(SpeakerNet())
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        total = 0.0
        for mel, speaker in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(mel), speaker)
            loss.backward()
            opt.step()
            total += loss.item()
        with torch.no_grad():
            hits = torch.tensor([sum((model(m).argmax(1) == s).sum() for m, s in valid), 0.0])
        dist.all_reduce(hits)
        log.info("epoch %d loss %.3f hits %d", epoch, total / len(loader), int(hits[0]))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
