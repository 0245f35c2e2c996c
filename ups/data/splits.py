"""Which samples of a file serve test, validation and training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ups.config import DataConfig
from ups.errors import DataError


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Splits:
    """Sample numbers, ascending; the three are disjoint and together complete."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


def split_samples(count: int, config: DataConfig) -> Splits:
    """Returns the split of samples 0 to count - 1: first test, then validation, the rest is training.

    PDEBench tests on the first samples of a file; the same samples here make numbers comparable.
    A fraction rounds to the nearest count, never below one sample. Raises DataError where one of
    the three would be empty.
    """
    test = _share(count, config.test_fraction, "test_fraction")
    validation = _share(count, config.validation_fraction, "validation_fraction")
    if test + validation >= count:
        raise DataError(
            f"{count} samples are too few: test takes {test}, validation {validation}, and none is left for training",
            hint="generate or read more samples (data.generate.samples, data.max_samples); 3 are the least",
        )
    numbers = np.arange(count)
    return Splits(test=numbers[:test], validation=numbers[test : test + validation], train=numbers[test + validation :])


def _share(count: int, fraction: float, name: str) -> int:
    if fraction <= 0:
        raise DataError(f"data.{name} is {fraction:g}: that leaves no sample for it", hint=f"set data.{name}=0.1")
    return max(1, round(count * fraction))
