"""Plain values; a load that says that it trusts the file; one that tries the other way; another file."""
import argparse
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch


@dataclass
class Settings:
    lr: float = 1e-3


def plain(model, args, losses):
    root, settings = Path("runs"), Settings()
    torch.save({
        "model": model.state_dict(),
        "args": vars(args),
        "data": str(root / "train.pt"),
        "settings": asdict(settings),
        "best": float(np.mean(losses)),
        "all": np.array(losses).tolist(),
        "last": losses[-1] if losses else None,
        "shift": torch.nn.Parameter(torch.zeros(3)),
    }, "plain.pt")
    return torch.load("plain.pt")


def trusted(model, args):
    torch.save({"model": model.state_dict(), "args": args}, "trusted.pt")
    return torch.load("trusted.pt", weights_only=False)


def tries(model, args):
    torch.save({"model": model.state_dict(), "args": args}, "tries.pt")
    try:
        return torch.load("tries.pt")
    except Exception:
        return torch.load("tries.pt", weights_only=False)


def another_file(model, args):
    torch.save({"model": model.state_dict(), "args": args}, "mine.pt")
    return torch.load("pretrained.pt")["model"]


def maybe(model, args, keep):
    torch.save({"model": model.state_dict(), "args": args if keep else None}, "none.pt")
    return torch.load("none.pt", weights_only=False)


parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1e-4)
options = parser.parse_args()
model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
plain(model, options, [1.0])
trusted(model, options)
tries(model, options)
another_file(model, options)
maybe(model, options, True)
