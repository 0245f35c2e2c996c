import argparse
import json
import logging

import torch
import torch.distributed as dist

from tp.cross_entropy import vocab_parallel_cross_entropy
from tp.layers import TranslationModel

log = logging.getLogger("mt")


class Parallel:
    """A toy language pair: the target word depends on this and the previous source word, with synonyms."""

    def __init__(self, vocab, seed):
        g = torch.Generator().manual_seed(seed)
        self.table = torch.randint(0, vocab, (vocab, 4, 2), generator=g)
        self.g = torch.Generator().manual_seed(seed + 1)
        self.vocab = vocab

    def batch(self, size, length):
        src = torch.randint(0, self.vocab, (size, length), generator=self.g)
        synonym = (torch.rand(size, length, generator=self.g) < 0.25).long()
        return src, self.table[src, src.roll(1, 1) % 4, synonym]


@torch.no_grad()
def evaluate(model, data, cfg):
    model.eval()
    src, tgt = data.batch(64, cfg["length"])
    logits = model(src).flatten(0, 1)
    nll = vocab_parallel_cross_entropy(logits, tgt.flatten()).mean()
    model.train()
    return nll.item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--config", default="config.json")
    args = p.parse_args()
    with open(args.config) as f:
        cfg = json.load(f)
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO if dist.get_rank() == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    torch.manual_seed(cfg["seed"])
    model = TranslationModel(cfg["vocab"], cfg["dim"], cfg["hidden"])
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"], betas=(0.9, 0.98))
    warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 30))
    data = Parallel(cfg["vocab"], cfg["seed"])
    for step in range(cfg["steps"]):
        src, tgt = data.batch(cfg["batch"], cfg["length"])
        logits = model(src).flatten(0, 1)
        loss = vocab_parallel_cross_entropy(logits, tgt.flatten(), cfg["label_smoothing"]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warmup.step()
        if step % 50 == 0:
            nll = evaluate(model, data, cfg)
            log.info("step %d loss %.4f valid nll %.4f", step, loss.item(), nll)
    torch.save(model.state_dict(), f"mt_tp{dist.get_rank()}.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
