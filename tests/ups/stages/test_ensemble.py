"""CRPS, spread, skill and ranks, against their definitions and against ensembles whose answer is known."""

from __future__ import annotations

import pytest
import torch

from ups.forecasts.ensemble import Calibration, crps, spread_and_error


def test_crps_is_its_definition_over_all_pairs():
    torch.manual_seed(0)
    members, truth = torch.randn(5, 3, 7, 2, dtype=torch.float64), torch.randn(3, 7, 2, dtype=torch.float64)
    pairs = sum((members[i] - members[j]).abs() for i in range(5) for j in range(5)) / (2 * 5 * 4)
    by_hand = ((members - truth).abs().mean(0) - pairs).mean((1, 2))
    assert torch.allclose(crps(members, truth), by_hand)


def test_members_that_agree_score_as_the_absolute_error():
    truth = torch.randn(2, 9, 1)
    assert torch.allclose(crps((truth + 0.3).expand(4, -1, -1, -1), truth), torch.full((2,), 0.3), atol=1e-6)


def test_an_ensemble_from_the_truths_own_distribution_is_calibrated_and_narrow_ones_are_not():
    torch.manual_seed(1)
    found = {}
    for name, width in (("right", 1.0), ("narrow", 0.3), ("wide", 3.0)):
        calibration = Calibration(members=4)
        calibration.add(width * torch.randn(4, 50, 400, 1), torch.randn(50, 400, 1))
        found[name] = calibration.result()
    assert found["right"]["spread_skill"] == pytest.approx(1, abs=0.02)
    assert found["right"]["rank_histogram"] == pytest.approx([0.2] * 5, abs=0.01)
    assert found["right"]["crps"] < min(found["narrow"]["crps"], found["wide"]["crps"])
    assert found["narrow"]["spread_skill"] < 0.5 < 1.5 < found["wide"]["spread_skill"]
    assert found["narrow"]["rank_histogram"][0] > 0.3 > 0.1 > found["wide"]["rank_histogram"][0]


def test_samples_added_in_parts_come_to_the_same_numbers():
    members, truth = torch.randn(3, 8, 5, 1), torch.randn(8, 5, 1)
    whole, parts = Calibration(members=3), Calibration(members=3)
    whole.add(members, truth)
    parts.add(members[:, :3], truth[:3])
    parts.add(members[:, 3:], truth[3:])
    found, expected = parts.result(), whole.result()
    assert found.pop("rank_histogram") == expected.pop("rank_histogram")
    assert found == pytest.approx(expected)
    one = spread_and_error(members, truth)
    assert [tuple(values.shape) for values in one.values()] == [(8,)] * 3
