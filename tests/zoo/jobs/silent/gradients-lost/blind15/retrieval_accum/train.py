import json
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from data import CaptionPairs
from hooks import CosineLr, OptimizerHook, Progress
from runner import Runner


class DualEncoder(nn.Module):
    def __init__(self, dim=24, vocab=60, out=32):
        super().__init__()
        self.image = nn.Sequential(nn.Linear(dim, 64), nn.GELU(), nn.Linear(64, out))
        self.text = nn.EmbeddingBag(vocab, 64)
        self.proj = nn.Linear(64, out)
        self.scale = nn.Parameter(torch.tensor(2.3))

    def forward(self, image, words):
        a, b = F.normalize(self.image(image), dim=1), F.normalize(self.proj(self.text(words)), dim=1)
        return self.scale.exp() * a @ b.T


def contrastive(model, batch):
    logits = model(*batch)
    want = torch.arange(len(logits))
    return (F.cross_entropy(logits, want) + F.cross_entropy(logits.T, want)) / 2


def main(path):
    with open(path) as f:
        cfg = json.load(f)
    dist.init_process_group("gloo")
    torch.manual_seed(cfg["seed"])
    data = CaptionPairs()
    loader = DataLoader(data, cfg["batch"], sampler=DistributedSampler(data), drop_last=True)
    model = DistributedDataParallel(DualEncoder())
    opt = torch.optim.AdamW(model.parameters(), cfg["lr"])
    hooks = [CosineLr(cfg["lr"], cfg["epochs"] * len(loader)), OptimizerHook(**cfg["cumulative"]), Progress(50)]
    Runner(model, opt, contrastive, hooks).run(loader, cfg["epochs"])
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
