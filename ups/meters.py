"""Running sums kept on the device, so that counting costs no synchronisation, and exact over a resume."""

from __future__ import annotations

import torch

from ups.distributed import World, sums


class Meter:
    """The sum of this rank's sample losses, and how many samples all ranks counted."""

    def __init__(self, device: torch.device) -> None:
        self.sum = torch.zeros((), dtype=torch.float64, device=device)
        self.count = 0

    def add(self, total: torch.Tensor, count: int) -> None:
        """Adds this rank's sum over a step that counted `count` samples over all ranks."""
        self.sum += total
        self.count += count

    def mean(self, world: World) -> float:
        """Returns the mean over all ranks' samples; every rank calls it."""
        return sums([self.sum], world)[0] / max(1, self.count)

    def reset(self) -> None:
        """Starts again at zero."""
        self.sum.zero_()
        self.count = 0

    def state(self) -> list[float]:
        """Returns what `load_state` takes."""
        return [float(self.sum), float(self.count)]

    def load_state(self, state: list[float]) -> None:
        """Goes on where `state` was taken."""
        self.sum.fill_(state[0])
        self.count = int(state[1])
