import argparse
import json
import logging
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from corpus import Manifest, Utterances, collate
from model import Acoustic
from text import CharTokenizer

log = logging.getLogger("asr")


class Recipe:
    def __init__(self, hp):
        self.hp = hp
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.tokenizer = CharTokenizer()
        self.manifest = Manifest(hp["utterances"], hp["seed"])
        net = Acoustic(hp["n_mels"], hp["hidden"], self.tokenizer.size)
        self.model = DDP(net)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=hp["lr"])
        self.ctc = torch.nn.CTCLoss(zero_infinity=True)

    def loader(self, epoch):
        limit = self.hp["curriculum"][min(epoch, len(self.hp["curriculum"]) - 1)]
        entries = self.manifest.filter(limit)
        per = len(entries) // self.world
        mine = entries[self.rank::self.world][:per]
        g = torch.Generator().manual_seed(1000 * epoch + self.rank)
        return DataLoader(Utterances(mine, self.tokenizer, self.hp["n_mels"]), batch_size=self.hp["batch"],
                          shuffle=True, generator=g, collate_fn=collate, drop_last=True)

    def fit(self):
        for epoch in range(self.hp["epochs"]):
            total = n = 0
            for feats, fl, labels, ll in self.loader(epoch):
                lp = self.model(feats)
                loss = self.ctc(lp.transpose(0, 1), labels, fl, ll)
                self.opt.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
                self.opt.step()
                total, n = total + loss.item(), n + 1
            if self.rank == 0:
                log.info("epoch %d: %d batches, ctc %.3f", epoch, n, total / n)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--hparams", default="hparams.json")
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    with open(args.hparams) as f:
        hp = json.load(f)
    dist.init_process_group("gloo")
    torch.manual_seed(hp["seed"])
    Recipe(hp).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
