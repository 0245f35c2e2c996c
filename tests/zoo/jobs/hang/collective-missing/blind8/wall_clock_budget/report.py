import time
from pathlib import Path


class RunIndex:
    """Reads the tables of earlier runs, some hundred of them on a slow disk."""

    def __init__(self, folder):
        self.rows = []
        for number in range(60):
            time.sleep(0.05)
            path = Path(folder) / f"{number:03d}.csv"
            if path.exists():
                self.rows.append(path.read_text())

    def add(self, steps, loss):
        print(f"run {len(self.rows)}: {steps} steps, loss {loss:.4f}", flush=True)
