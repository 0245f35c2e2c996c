"""FNO and U-Net on the fields of a run's own file and split, for as many CPU seconds as the run was given.

FNO is neuraloperator's (pip install --no-deps; see run.py), U-Net is written after PDEBench's (four levels, two
convolutions with batch norm and tanh a level, channels doubled at each). Both get the normalised input field and the
cells' coordinates, answer with the change of the field (steady problems: with the field), are trained by AdamW on the
relative L2 error, clipped, with a cosine over the budget, and are measured by the same code as our models.
Shapes: B batch, X grid axes, C channels.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ups.config import UpsConfig
from ups.data.datasets import PairDataset
from ups.data.fields import FieldReader, open_data
from ups.data.normalisation import from_training_split
from ups.data.splits import split_samples
from ups.losses import relative_l2
from ups.metrics import PdebenchMetrics
from ups.models.patches import cell_centres

BATCH, LR, WIDTH_1D, WIDTH_2D = 32, 2e-3, 32, 24


class WithPlaces(nn.Module):
    """A network of (B, C, X) given the field and coordinates, as a map of (B, X, 1) to itself."""

    def __init__(self, net: nn.Module, grid: tuple[int, ...], *, steady: bool) -> None:
        super().__init__()
        self.net, self.steady = net, steady
        self.register_buffer("places", cell_centres(grid).T.reshape(1, len(grid), *grid))

    def forward(self, u_BXC: Tensor) -> Tensor:
        u_BCX = u_BXC.movedim(-1, 1)
        places = self.places.expand(len(u_BCX), *self.places.shape[1:])
        out = self.net(torch.cat([u_BCX, places], dim=1)).movedim(1, -1)
        return out if self.steady else u_BXC + out


class UNet(nn.Module):
    """After PDEBench's unet.py: pooling down, transposed convolutions up, skips concatenated."""

    def __init__(self, inputs: int, width: int, axes: int, *, periodic: bool, levels: int = 3) -> None:
        super().__init__()
        flat = axes == 1
        conv, norm = (nn.Conv1d, nn.BatchNorm1d) if flat else (nn.Conv2d, nn.BatchNorm2d)
        up = nn.ConvTranspose1d if flat else nn.ConvTranspose2d
        self.pool = (nn.MaxPool1d if flat else nn.MaxPool2d)(2)
        mode = "circular" if periodic else "zeros"

        def block(before: int, after: int) -> nn.Sequential:
            parts: list[nn.Module] = []
            for size in (before, after):
                parts += [conv(size, after, 3, padding=1, padding_mode=mode, bias=False), norm(after), nn.Tanh()]
            return nn.Sequential(*parts)

        sizes = [width * 2**level for level in range(levels + 1)]
        self.down = nn.ModuleList(block(a, b) for a, b in zip([inputs, *sizes], sizes, strict=False))
        self.up = nn.ModuleList(up(2 * size, size, 2, stride=2) for size in reversed(sizes[:-1]))
        self.join = nn.ModuleList(block(2 * size, size) for size in reversed(sizes[:-1]))
        self.last = conv(width, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for place, block in enumerate(self.down):
            x = block(self.pool(x) if place else x)
            kept.append(x)
        for up, join, finer in zip(self.up, self.join, reversed(kept[:-1]), strict=True):
            x = join(torch.cat([up(x), finer], dim=1))
        return self.last(x)


def network(name: str, grid: tuple[int, ...], *, periodic: bool) -> nn.Module:
    """Returns an untrained baseline."""
    axes, width = len(grid), WIDTH_1D if len(grid) == 1 else WIDTH_2D
    if name == "unet":
        return UNet(1 + axes, width // 2, axes, periodic=periodic)
    from neuralop.models import FNO

    # PDEBench: 12 modes an axis, four layers; padding where the domain does not repeat.
    modes = (min(16, grid[0] // 2),) if axes == 1 else tuple(min(12, size // 2) for size in grid)
    padding = None if periodic else 0.125
    return FNO(
        n_modes=modes, hidden_channels=width, in_channels=1 + axes, out_channels=1, n_layers=4, domain_padding=padding
    )


def measure(name: str, config: UpsConfig, cpu_s: float, seed: int) -> dict[str, Any]:
    """Returns the row of a baseline after so many CPU seconds of training."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    spec = open_data(config.data)
    reader, splits = FieldReader(spec), split_samples(spec.samples, config.data)
    units = from_training_split(reader, splits.train)
    steady, out = spec.kind == "steady", spec.fields[-1]
    model = WithPlaces(network(name, spec.grid, periodic=spec.periodic), spec.grid, steady=steady)
    pairs = PairDataset(reader, splits.train, units)
    items = [pairs[index] for index in range(len(pairs))]
    u_in, u_out = (torch.stack([item[key] for item in items]) for key in ("u_in", "u_out"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=1e-4)
    began, steps = time.process_time(), 0
    while (progress := (time.process_time() - began) / cpu_s) < 1:
        for chosen in torch.randperm(len(items)).split(BATCH):
            progress = (time.process_time() - began) / cpu_s
            if progress >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = LR * 0.5 * (1 + math.cos(math.pi * progress)) * min(1, (steps + 1) / 50)
            loss = relative_l2(
                units.denormalise(out, model(u_in[chosen])), units.denormalise(out, u_out[chosen])
            ).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            steps += 1
    spent = time.process_time() - began
    return {
        **_errors(model.eval(), spec, reader, splits.test, units),
        "parameters": sum(one.numel() for one in model.parameters()),
        "train_cpu_s": round(spent, 1),
        "steps": steps,
    }


@torch.inference_mode()
def _errors(model: nn.Module, spec: Any, reader: FieldReader, samples: np.ndarray, units: Any) -> dict[str, Any]:
    step, rollout, seconds, count, name = PdebenchMetrics(), PdebenchMetrics(), 0.0, 0, spec.fields[-1]

    def predict(u: Tensor) -> Tensor:
        return units.denormalise(name, model(units.normalise(spec.fields[0], u)))

    for sample in samples:
        if spec.kind == "steady":
            given, true = (torch.from_numpy(reader.field(int(sample), field))[None] for field in ("a", "u"))
            began = time.perf_counter()
            found = predict(given)
            seconds, count = seconds + time.perf_counter() - began, count + 1
            step.add(found[None], true[None])
            continue
        true = torch.from_numpy(reader.frames(int(sample), 0, spec.frames))
        began = time.perf_counter()
        found = predict(true[:-1])
        seconds, count = seconds + time.perf_counter() - began, count + spec.frames - 1
        step.add(found[None], true[None, 1:])
        frames = [true[:1]]
        for _ in range(spec.frames - 1):
            frames.append(predict(frames[-1]))
        rollout.add(torch.cat(frames[1:])[None], true[None, 1:])
    result = {"one_step": step.result(), "seconds_a_step": seconds / count}
    return result | ({"rollout": rollout.result()} if spec.kind != "steady" else {})


if __name__ == "__main__":
    import json
    import sys

    from ups.config import load_config

    baseline, path, overrides, budget, number = sys.argv[1:]
    settings = json.loads(overrides)
    print(json.dumps(measure(baseline, load_config(Path(path), settings), float(budget), int(number))))
