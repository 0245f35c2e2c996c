"""A small sweep: each process trains one configuration from the same start on the same split and writes its result."""
import json
from pathlib import Path

import torch
import torch.multiprocessing as mp
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

GRID = [
    {"lr": 1e-3, "weight_decay": 0.0, "hidden": 32},
    {"lr": 5e-3, "weight_decay": 0.0, "hidden": 32},
    {"lr": 5e-3, "weight_decay": 0.1, "hidden": 32},
]
TRIAL_SEED = 2024


def splits():
    g = torch.Generator().manual_seed(50)
    x = torch.rand(400, 5, generator=g) * 2 - 1
    y = torch.sin(3 * x[:, :1]) * x[:, 1:2] + x[:, 2:3] ** 2
    return TensorDataset(x[:320], y[:320]), (x[320:], y[320:])


def run_trial(index, grid, folder):
    torch.set_num_threads(1)
    hp = grid[index]
    torch.manual_seed(TRIAL_SEED)
    model = nn.Sequential(nn.Linear(5, hp["hidden"]), nn.Tanh(), nn.Linear(hp["hidden"], hp["hidden"]), nn.Tanh(),
                          nn.Linear(hp["hidden"], 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=hp["lr"], weight_decay=hp["weight_decay"])
    train, (xv, yv) = splits()
    loader = DataLoader(train, batch_size=16, shuffle=True)
    for _ in range(3):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        val = nn.functional.mse_loss(model(xv), yv).item()
    Path(folder, f"trial{index}.json").write_text(json.dumps({**hp, "train_loss": loss.item(), "val_loss": val}))


if __name__ == "__main__":
    folder = Path("sweep")
    folder.mkdir(exist_ok=True)
    mp.spawn(run_trial, args=(GRID, str(folder)), nprocs=len(GRID), join=True)
    results = [json.loads(p.read_text()) for p in sorted(folder.glob("trial*.json"))]
    for r in results:
        print(r)
    print("best:", min(results, key=lambda r: r["val_loss"]))
