"""A trainer's adapter of two stages, run as a program: `inspect CONFIG [--set KEY=VALUE]...`."""

import sys

import torch
from torch import nn


def batches(seen):
    while True:
        seen.append(len(seen))
        yield {"x": torch.randn(4, 8)}


class Stage(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Linear(8, width)

    def forward(self, batch):
        return self.scale(batch["x"])


if __name__ == "__main__":
    if sys.argv[2] == "wrong.yaml":
        print("no such configuration: wrong.yaml\n  ls *.yaml", file=sys.stderr)
        sys.exit(2)
    if sys.argv[2] == "broken.yaml":
        raise RuntimeError("the second stage has no weights")
    torch.set_num_threads(3)
    width = int(sys.argv[sys.argv.index("--set") + 1].partition("=")[2]) if "--set" in sys.argv else 4
    inspection = sys.modules["_ups_doctor_inspection"]
    inspection.inspect("first", Stage(2), batches([]))
    inspection.inspect("second", Stage(width), batches([]), "synthetic batches")
    sys.exit(0)
