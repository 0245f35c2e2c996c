import os
import time
from pathlib import Path

import torch


def load_tokens(folder, builder):
    folder = Path(folder)
    path, lock = folder / "tokens.pt", folder / "tokens.lock"
    if builder and not path.exists():
        build(folder, path, lock)
    while lock.exists() or not path.exists():
        time.sleep(0.2)
    return torch.load(path, weights_only=True)


def build(folder, path, lock):
    folder.mkdir(exist_ok=True)
    lock.write_text(str(os.getpid()))
    try:
        parts = []
        for document in range(36):
            time.sleep(0.5)
            parts.append(torch.randint(256, (64,), generator=torch.Generator().manual_seed(document)))
        torch.save(torch.cat(parts), path)
    finally:
        lock.unlink()
