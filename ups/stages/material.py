"""What every stage works on: the data file, its split, and the units it is trained in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ups.config import UpsConfig
from ups.data.fields import FieldReader, FieldSpec, open_data
from ups.data.normalisation import Normalisation, from_training_split
from ups.data.splits import Splits, split_samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """One experiment's data; a reader opens its file in each process that reads."""

    spec: FieldSpec
    reader: FieldReader
    splits: Splits
    normalisation: Normalisation


def gather(config: UpsConfig, normalisation: Callable[[Callable[[], Normalisation]], Normalisation]) -> Material:
    """Returns the material; `normalisation` is given the function that computes it, and may know it already."""
    spec = open_data(config.data)
    reader, splits = FieldReader(spec), split_samples(spec.samples, config.data)
    units = normalisation(lambda: from_training_split(reader, splits.train))
    reader.close()
    return Material(spec=spec, reader=reader, splits=splits, normalisation=units)


def alone(config: UpsConfig) -> Material:
    """Returns the material for one process that works by itself, such as a check before the run."""
    return gather(config, lambda compute: compute())
