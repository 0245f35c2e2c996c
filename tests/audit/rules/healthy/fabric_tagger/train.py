import json
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn as nn
from lightning.fabric import Fabric
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Options:
    data: Path = Path("conll.pt")
    index: Path = Path("cache/conll.index.json")
    out: Path = Path("runs/tagger")
    epochs: int = 40
    patience: int = 3
    batch: int = 64


class Tagger(nn.Module):
    def __init__(self, words=30000, tags=9, dim=256):
        super().__init__()
        self.embed = nn.Embedding(words, dim, padding_idx=0)
        self.rnn = nn.LSTM(dim, dim, 2, batch_first=True, bidirectional=True, dropout=0.3)
        self.out = nn.Linear(2 * dim, tags)

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


def cross_entropy(model, words, tags):
    return nn.functional.cross_entropy(model(words).flatten(0, 1), tags.flatten(), ignore_index=-100)


def datasets(fabric, o):
    blob = torch.load(o.data, map_location="cpu")
    with fabric.rank_zero_first():
        if not o.index.exists():
            o.index.parent.mkdir(parents=True, exist_ok=True)
            o.index.write_text(json.dumps({k: len(v[0]) for k, v in blob.items()}))
    sizes = json.loads(o.index.read_text())
    fabric.print(sizes)
    return TensorDataset(*blob["train"]), TensorDataset(*blob["dev"])


@torch.no_grad()
def validate(fabric, model, loader):
    model.eval()
    total = torch.zeros((), device=fabric.device)
    for words, tags in loader:
        total += cross_entropy(model, words, tags)
    return fabric.all_reduce(total / len(loader), reduce_op="mean").item()


def main(o):
    fabric = Fabric(accelerator="cuda", devices=4, strategy="ddp", precision="bf16-mixed")
    fabric.launch()
    fabric.seed_everything(3)
    train, dev = datasets(fabric, o)
    train_loader, dev_loader = fabric.setup_dataloaders(
        DataLoader(train, o.batch, shuffle=True, drop_last=True), DataLoader(dev, o.batch))
    model = Tagger()
    model, optimizer = fabric.setup(model, torch.optim.AdamW(model.parameters(), lr=1e-3))
    best, bad = float("inf"), 0
    for epoch in range(o.epochs):
        train_loader.sampler.set_epoch(epoch)
        model.train()
        for words, tags in train_loader:
            optimizer.zero_grad()
            fabric.backward(cross_entropy(model, words, tags))
            optimizer.step()
        value = validate(fabric, model, dev_loader)
        if fabric.is_global_zero:
            print(f"epoch {epoch} dev {value:.4f}")
        if value < best:
            best, bad = value, 0
            fabric.save(o.out / "best.ckpt", {"model": model, "optimizer": optimizer, "epoch": epoch})
        else:
            bad += 1
        if bad >= o.patience:
            break
    fabric.barrier()


if __name__ == "__main__":
    main(Options())
