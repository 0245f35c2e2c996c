import argparse
import glob
import json
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def read_jsonl(path, width):
    with open(path) as fh:
        for row in fh:
            ids = json.loads(row)["ids"][:width]
            yield torch.tensor(ids + [0] * (width - len(ids)))


def batches(paths, size, width):
    block = []
    for path in paths:
        for ids in read_jsonl(path, width):
            block.append(ids)
            if len(block) == size:
                yield torch.stack(block)
                block = []


class TinyEncoder(nn.Module):
    def __init__(self, vocab, dim=256):
        super().__init__()
        self.table = nn.Embedding(vocab, dim, padding_idx=0)
        layer = nn.TransformerEncoderLayer(dim, 4, 4 * dim, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        mask = torch.rand(ids.shape, device=ids.device) < 0.15
        logits = self.head(self.body(self.table(ids.masked_fill(mask, 1))))
        return nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten(), ignore_index=0)


class Pretrainer:
    def __init__(self, args):
        self.args = args
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.local = int(os.environ["LOCAL_RANK"])
        self.net = DistributedDataParallel(TinyEncoder(args.vocab).cuda(self.local), device_ids=[self.local])
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=2e-4)
        self.files = sorted(glob.glob(os.path.join(args.corpus, "*.jsonl")))

    def step(self, ids):
        self.opt.zero_grad(set_to_none=True)
        loss = self.net(ids.cuda(self.local))
        loss.backward()
        self.opt.step()
        return loss.detach()

    def epoch(self):
        mine = self.files[self.rank::self.world]
        feed = batches(mine, self.args.batch, self.args.width)
        while True:
            ids = next(feed, None)
            have = torch.tensor(int(ids is not None), device=f"cuda:{self.local}")
            dist.all_reduce(have, op=dist.ReduceOp.MIN)
            if not have.item():
                break
            self.step(ids)

    def save(self, n):
        if self.rank == 0:
            torch.save(self.net.module.state_dict(), f"{self.args.out}/encoder-{n}.pt")
        dist.barrier(device_ids=[self.local])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("corpus")
    ap.add_argument("out")
    ap.add_argument("--vocab", type=int, default=32000)
    ap.add_argument("--width", type=int, default=128)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=3)
    args = ap.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    trainer = Pretrainer(args)
    for n in range(args.epochs):
        trainer.epoch()
        trainer.save(n)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
