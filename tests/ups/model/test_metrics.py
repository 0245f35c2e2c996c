"""PDEBench's metrics against a plain numpy loop over samples, channels and times, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from ups.losses import mse, relative_l2, relative_mse
from ups.metrics import PdebenchMetrics, nrmse_per_sample


def looped(predicted, true):
    """PDEBench's definitions, written as loops; arrays are (samples, times, *grid, channels)."""
    samples, times, *grid, channels = true.shape
    cells = math.prod(grid)
    found = {name: [] for name in ("RMSE", "nRMSE", "cRMSE", "max", "bRMSE", "low", "mid", "high")}
    for time in range(times):
        for channel in range(channels):
            rmse, nrmse, mass, edge, largest, spectrum = [], [], [], [], [], []
            for sample in range(samples):
                p, t = predicted[sample, time, ..., channel], true[sample, time, ..., channel]
                error = p - t
                rmse.append(np.sqrt((error**2).mean()))
                nrmse.append(np.sqrt((error**2).mean()) / np.sqrt((t**2).mean()))
                mass.append((p.sum() - t.sum()) ** 2)
                edge.append(edge_rms(error))
                largest.append(np.abs(error).max())
                spectrum.append(squared_modes(error))
            found["RMSE"].append(np.mean(rmse))
            found["nRMSE"].append(np.mean(nrmse))
            found["cRMSE"].append(np.sqrt(np.mean(mass)) / cells)
            found["bRMSE"].append(np.mean(edge))
            found["max"].append(np.max(largest))
            modes = np.sqrt(np.mean(spectrum, axis=0)) / cells
            found["low"].append(modes[:4].mean())
            found["mid"].append(modes[4:12].mean())
            found["high"].append(modes[12:].mean())
    return [float(np.mean(values)) for values in found.values()]


def edge_rms(error):
    if error.ndim == 1:
        return np.sqrt((error[0] ** 2 + error[-1] ** 2) / 2)
    sides = (error[0], error[-1], error[:, 0], error[:, -1])
    return np.sqrt(sum((side**2).sum() for side in sides) / (2 * error.shape[0] + 2 * error.shape[1]))


def squared_modes(error):
    if error.ndim == 1:
        return np.abs(np.fft.rfft(error)) ** 2
    rows, columns = (size // 2 for size in error.shape)
    transform, shells = np.abs(np.fft.fft2(error)) ** 2, np.zeros(min(rows, columns))
    for i in range(rows):
        for j in range(columns):
            if int(math.sqrt(i * i + j * j)) < len(shells):
                shells[int(math.sqrt(i * i + j * j))] += transform[i, j]
    return shells


def measured(predicted, true):
    metrics = PdebenchMetrics()
    metrics.add(torch.from_numpy(predicted), torch.from_numpy(true))
    return metrics


@pytest.mark.parametrize("shape", [(5, 3, 32, 2), (4, 2, 30, 26, 1)], ids=["1d", "2d"])
def test_all_eight_metrics_equal_a_plain_loop(shape):
    rng = np.random.default_rng(3)
    predicted, true = rng.normal(size=shape), rng.normal(size=shape)
    assert list(measured(predicted, true).result().values()) == pytest.approx(looped(predicted, true), rel=1e-12)


def test_metrics_of_a_constant_error_are_what_one_computes_by_hand():
    true = np.full((2, 1, 4, 1), 2.0)
    predicted = true + np.array([0.5, -1.0]).reshape(2, 1, 1, 1)
    assert measured(predicted, true).result() == {
        "RMSE": pytest.approx(0.75),
        "nRMSE": pytest.approx(0.375),
        "cRMSE": pytest.approx(math.sqrt((0.25 + 1) / 2)),
        "max": pytest.approx(1.0),
        "bRMSE": pytest.approx(0.75),
        "fRMSE_low": pytest.approx(math.sqrt((0.25 + 1) / 2) / 3),
        "fRMSE_mid": None,
        "fRMSE_high": None,
    }


def test_adding_in_parts_and_merging_ranks_gives_the_numbers_of_one_batch():
    rng = np.random.default_rng(4)
    predicted, true = rng.normal(size=(7, 2, 16, 1)), rng.normal(size=(7, 2, 16, 1))
    first, second = measured(predicted[:3], true[:3]), measured(predicted[3:5], true[3:5])
    first.add(torch.from_numpy(predicted[5:]), torch.from_numpy(true[5:]))
    merged = PdebenchMetrics().merge(first).merge(second)
    assert merged.count == 7
    whole = [value for value in measured(predicted, true).result().values() if value is not None]
    assert [value for value in merged.result().values() if value is not None] == pytest.approx(whole)


def test_the_error_by_frame_averages_to_the_whole():
    rng = np.random.default_rng(5)
    metrics = measured(rng.normal(size=(3, 4, 16, 1)), rng.normal(size=(3, 4, 16, 1)))
    assert np.mean(metrics.nrmse_by_frame()) == pytest.approx(metrics.result()["nRMSE"])


def test_nrmse_per_sample_averages_channels_and_counts_a_zero_truth_with_its_rmse():
    true = torch.tensor([[[3.0, 0.0], [4.0, 0.0]]])
    predicted = true + 1.0
    assert nrmse_per_sample(predicted, true).tolist() == pytest.approx([(1 / math.sqrt(12.5) + 1) / 2])


def test_losses_are_one_number_a_sample():
    true = torch.tensor([[[1.0], [2.0]], [[0.0], [0.0]]])
    predicted = true + torch.tensor([[[1.0], [0.0]], [[0.0], [0.0]]])
    assert mse(predicted, true).tolist() == [0.5, 0.0]
    assert relative_mse(predicted, true).tolist() == pytest.approx([0.2, 0.0])
    assert relative_l2(predicted, true).tolist() == pytest.approx([1 / math.sqrt(5), 0.0])
