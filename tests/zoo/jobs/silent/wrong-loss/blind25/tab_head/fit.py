import json
import pathlib

import torch
from torch.utils.data import DataLoader, TensorDataset

from tabnets import Trainer, build_mlp

CFG = json.loads((pathlib.Path(__file__).parent / "config.json").read_text())


def table(rows, features, classes, seed):
    g = torch.Generator().manual_seed(seed)
    centers = torch.randn(classes, features, generator=torch.Generator().manual_seed(99))
    y = torch.randint(classes, (rows,), generator=g)
    x = centers[y] * 0.55 + torch.randn(rows, features, generator=g) * 0.7
    return torch.tanh(x), y


def main():
    torch.manual_seed(CFG["seed"])
    d, o = CFG["data"], CFG["optim"]
    x, y = table(d["rows"], d["features"], d["classes"], 0)
    xv, yv = table(2000, d["features"], d["classes"], 1)
    model = build_mlp(d["features"], n_out=d["classes"], **CFG["model"])
    trainer = Trainer(model, "multiclass", o["lr"])
    loader = DataLoader(TensorDataset(x, y), batch_size=o["batch_size"], shuffle=True)
    for e in range(o["epochs"]):
        loss = trainer.epoch(loader)
        print(f"[{e + 1}/{o['epochs']}] loss={loss:.4f} valid_acc={trainer.score(xv, yv):.4f}", flush=True)


if __name__ == "__main__":
    main()
