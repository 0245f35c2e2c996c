import argparse
import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def scans(n, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(40, 3, generator=torch.Generator().manual_seed(5))
    x = torch.randn(n, 40, generator=g)
    y = (x @ w + 6.0 * torch.randn(n, 3, generator=g)).argmax(1)
    return TensorDataset(x, y)


def build():
    return nn.Sequential(nn.Linear(40, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 3))


@torch.no_grad()
def validate(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def save(path, model, opt, sched, epoch):
    torch.save({"model": model.state_dict(), "optimizer": opt.state_dict(), "scheduler": sched.state_dict(),
                "epoch": epoch}, path)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", default="out")
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--stop-after", type=int, help="the queue's time limit, in epochs")
    ap.add_argument("--resume", action="store_true")
    args = ap.parse_args()
    os.makedirs(args.out, exist_ok=True)
    torch.manual_seed(0)
    train = DataLoader(scans(700, 1), batch_size=35, shuffle=True)
    val = DataLoader(scans(600, 2), batch_size=200)
    model = build()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, 10, 0.5)
    start, max_acc = 0, 0.0
    last = os.path.join(args.out, "last.pth")
    if args.resume and os.path.exists(last):
        state = torch.load(last)
        model.load_state_dict(state["model"])
        opt.load_state_dict(state["optimizer"])
        sched.load_state_dict(state["scheduler"])
        start = state["epoch"] + 1
        print("resumed at epoch", start)
    for epoch in range(start, min(args.epochs, args.stop_after or args.epochs)):
        model.train()
        total = 0.0
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        acc = validate(model, val)
        save(last, model, opt, sched, epoch)
        if acc > max_acc:
            max_acc = acc
            save(os.path.join(args.out, "best.pth"), model, opt, sched, epoch)
        print(f"epoch {epoch} loss {total / len(train):.4f} val {acc:.4f} best {max_acc:.4f}", flush=True)
    if args.stop_after is None:
        best = torch.load(os.path.join(args.out, "best.pth"))
        model.load_state_dict(best["model"])
        print(f"best.pth: epoch {best['epoch']}, val {validate(model, val):.4f}")


if __name__ == "__main__":
    main()
