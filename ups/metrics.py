"""PDEBench's error metrics in physical units, as sums and counts that batches and ranks can add.

Each metric is computed for every frame and channel and then averaged over both (PDEBench,
models/metrics.py). One thing is different on purpose: PDEBench adds the values of its B batches and divides by
B - 1, the last index of its loop, so that its published numbers are B / (B - 1) too high (20 / 19 = 5.3 % for
1000 samples in batches of 50). Here the mean over samples is the mean; multiply to compare.

Shapes: B samples, T frames, X grid axes, C channels, M wave numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

LOW_MODES, HIGH_MODES = 4, 12  # bands of fRMSE: [0, 4), [4, 12), [12, end)


def nrmse_per_sample(predicted_BXC: Tensor, true_BXC: Tensor) -> Tensor:
    """Returns the root mean squared error over the root mean square of the truth, mean over channels, (B,).

    A sample whose truth is zero everywhere counts with its plain RMSE.
    """
    error_BC, norm_BC = _rms(predicted_BXC - true_BXC), _rms(true_BXC)
    return (error_BC / torch.where(norm_BC > 0, norm_BC, 1.0)).mean(-1)


@dataclass
class PdebenchMetrics:
    """Running sums over samples, each (T, C); `spectrum_TMC` also by wave number. Float64."""

    count: int = 0
    cells: int = 0
    rmse_TC: Tensor | float = 0.0
    nrmse_TC: Tensor | float = 0.0
    mass_TC: Tensor | float = 0.0  # squared error of the sum over space
    boundary_TC: Tensor | float = 0.0
    spectrum_TMC: Tensor | float = 0.0  # squared moduli of the error's Fourier coefficients
    largest_TC: Tensor | float = 0.0

    def add(self, predicted_BTXC: Tensor, true_BTXC: Tensor) -> None:
        """Adds samples; all calls have the same frames, grid and channels, one or two space axes."""
        error = (predicted_BTXC - true_BTXC).double()
        rms_BTC = _rms(error, first=2)
        norm_BTC = _rms(true_BTXC.double(), first=2)
        self.count += len(error)
        self.cells = error[0, 0, ..., 0].numel()
        self.rmse_TC = self.rmse_TC + rms_BTC.sum(0)
        self.nrmse_TC = self.nrmse_TC + (rms_BTC / torch.where(norm_BTC > 0, norm_BTC, 1.0)).sum(0)
        self.mass_TC = self.mass_TC + error.flatten(2, -2).sum(2).square().sum(0)
        self.boundary_TC = self.boundary_TC + _boundary_rms(error).sum(0)
        self.spectrum_TMC = self.spectrum_TMC + _spectrum(error).sum(0)
        largest = error.abs().flatten(2, -2).amax(dim=(0, 2))
        self.largest_TC = torch.maximum(largest, torch.as_tensor(self.largest_TC, dtype=largest.dtype))

    def merge(self, other: PdebenchMetrics) -> PdebenchMetrics:
        """Returns the metrics of both sets of samples, as if one process had seen them all."""
        if not other.count or not self.count:
            return self if self.count else other
        return PdebenchMetrics(
            count=self.count + other.count,
            cells=self.cells,
            rmse_TC=self.rmse_TC + other.rmse_TC,
            nrmse_TC=self.nrmse_TC + other.nrmse_TC,
            mass_TC=self.mass_TC + other.mass_TC,
            boundary_TC=self.boundary_TC + other.boundary_TC,
            spectrum_TMC=self.spectrum_TMC + other.spectrum_TMC,
            largest_TC=torch.maximum(torch.as_tensor(self.largest_TC), torch.as_tensor(other.largest_TC)),
        )

    def result(self) -> dict[str, float | None]:
        """Returns PDEBench's eight numbers; a band of wave numbers that the grid lacks is None."""
        spectrum_MTC = (torch.as_tensor(self.spectrum_TMC) / self.count).sqrt().movedim(1, 0) / self.cells
        return {
            "RMSE": _mean(self.rmse_TC) / self.count,
            "nRMSE": _mean(self.nrmse_TC) / self.count,
            "cRMSE": _mean((torch.as_tensor(self.mass_TC) / self.count).sqrt()) / self.cells,
            "max": _mean(self.largest_TC),
            "bRMSE": _mean(self.boundary_TC) / self.count,
            "fRMSE_low": _band(spectrum_MTC[:LOW_MODES]),
            "fRMSE_mid": _band(spectrum_MTC[LOW_MODES:HIGH_MODES]),
            "fRMSE_high": _band(spectrum_MTC[HIGH_MODES:]),
        }

    def nrmse_by_frame(self) -> list[float]:
        """Returns the nRMSE of each frame, mean over samples and channels."""
        by_frame: list[float] = (torch.as_tensor(self.nrmse_TC) / self.count).mean(-1).tolist()
        return by_frame


def _rms(u: Tensor, first: int = 1) -> Tensor:
    rms: Tensor = u.flatten(first, -2).square().mean(first).sqrt()
    return rms


def _boundary_rms(error_BTXC: Tensor) -> Tensor:
    """Returns the RMS over the edges, (B, T, C); in two dimensions corners count twice, as in PDEBench."""
    squared = error_BTXC.square()
    ends = [squared.select(axis, end) for axis in range(2, squared.dim() - 1) for end in (0, -1)]
    edges = torch.cat([end.unsqueeze(2) if end.dim() == 3 else end for end in ends], dim=2)  # (B, T, cells, C)
    return edges.mean(2).sqrt()


def _spectrum(error_BTXC: Tensor) -> Tensor:
    """Returns squared moduli by wave number, (B, T, M, C).

    Two dimensions: first quadrant of the transform only, summed over shells floor(sqrt(i^2 + j^2)); shells
    that the shorter axis does not hold are left out.
    """
    if error_BTXC.dim() == 4:
        squared: Tensor = torch.fft.rfft(error_BTXC, dim=2).abs().square()
        return squared
    rows, columns = (size // 2 for size in error_BTXC.shape[2:4])
    quadrant = torch.fft.fft2(error_BTXC, dim=(2, 3)).abs().square()[:, :, :rows, :columns]
    i, j = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    shell = (i * i + j * j).double().sqrt().floor().long().flatten()
    modes = min(rows, columns)
    shells = torch.zeros(*quadrant.shape[:2], int(shell.max()) + 1, quadrant.shape[-1], dtype=quadrant.dtype)
    summed: Tensor = shells.index_add_(2, shell, quadrant.flatten(2, 3))
    return summed[:, :, :modes]


def _mean(values: Tensor | float) -> float:
    return float(torch.as_tensor(values).mean())


def _band(spectrum_MTC: Tensor) -> float | None:
    return float(spectrum_MTC.mean()) if len(spectrum_MTC) else None
