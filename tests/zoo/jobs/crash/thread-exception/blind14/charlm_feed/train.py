import argparse
import json
import logging
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from corpus import Shard, build_vocab
from feed import BackgroundFeed
from net import CharGRU

log = logging.getLogger("charlm")


class Trainer:
    def __init__(self, cfg, rank, world):
        self.cfg = cfg
        self.rank = rank
        vocab = build_vocab(cfg["vocab_docs"])
        torch.manual_seed(cfg["seed"])
        self.model = DDP(CharGRU(len(vocab), cfg["width"]))
        self.optim = torch.optim.AdamW(self.model.parameters(), lr=cfg["lr"])
        self.feed = BackgroundFeed(Shard(rank, world), vocab, cfg["context"], cfg["batch"], cfg["queue_depth"])

    def step(self):
        inputs, targets = self.feed.take()
        logits = self.model(inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        self.optim.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optim.step()
        return loss.item()

    def run(self):
        for step in range(self.cfg["steps"]):
            loss = self.step()
            if self.rank == 0 and step % 10 == 0:
                log.info("step %d loss %.4f", step, loss)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="config.json")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    with open(args.config) as fh:
        cfg = json.load(fh)
    dist.init_process_group("gloo")
    Trainer(cfg, int(os.environ["RANK"]), dist.get_world_size()).run()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
