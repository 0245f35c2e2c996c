import csv
from pathlib import Path


class History:
    """One row an epoch, written at once so that a curve can be drawn meanwhile."""

    FIELDS = ("epoch", "accuracy", "batches")

    def __init__(self, path):
        self.path = Path(path)
        with self.path.open("w", newline="") as handle:
            csv.DictWriter(handle, self.FIELDS).writeheader()

    def add(self, **row):
        with self.path.open("a", newline="") as handle:
            csv.DictWriter(handle, self.FIELDS).writerow(row)
