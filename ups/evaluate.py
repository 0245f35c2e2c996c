"""A trained surrogate against data it has not seen, in physical units, beside what needs no training.

Trajectories: every frame to the next (one step), and from the first frame to the last (rollout), beside
persistence, the input frame itself. Steady problems: a to u, beside the mean solution of the training
split. The autoencoder's own reconstruction is the floor that no operator gets below.

Shapes: B samples, T frames, X grid axes, C channels.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from ups.checkpoint import Best
from ups.data.fields import FieldReader, FieldSpec, open_spec
from ups.data.recipe import command_for
from ups.data.splits import split_samples
from ups.errors import ConfigError, DataError
from ups.forecasts.ensemble import Calibration
from ups.forecasts.other_grid import predictors_for, time_stride_for, to_grid
from ups.metrics import PdebenchMetrics
from ups.models.darcy_residual import relative_residual

Split = Literal["train", "validation", "test", "all"]
SPLITS: tuple[str, ...] = get_args(Split)
SAMPLES_AT_ONCE = 8
CORRECTIONS = ("diffusion", "consistency")  # stages of which members are drawn
KINDS = ("one step", "rollout")  # of predictions
EXAMPLES = 3  # samples that are kept for the plots
Tick = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One sample for the plots: truth and prediction, (T, X), (T, X, Y) or (X, Y); `given` is the coefficient a."""

    sample: int
    truth: np.ndarray
    prediction: np.ndarray
    given: np.ndarray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """`numbers` is what evaluation.json holds; the examples are for the plots."""

    numbers: dict[str, Any]
    examples: tuple[Example, ...]
    spec: FieldSpec


def open_for(best: Best, data: Path | None = None) -> FieldSpec:
    """Returns the spec of `data`, by default the file the run was trained on.

    Of data other than that, every so many frames are read as make a step of the model; its grid may be another one,
    as long as it has as many axes. Raises DataError where it is missing, or its steps cannot be the model's.
    """
    config = best.config.data
    read = partial(open_spec, task=best.spec.task, space_stride=config.space_stride, parameter=best.spec.parameter)
    if data is None:
        if not best.spec.path.exists():
            again = "" if config.tasks or config.file else f", or make it again: {command_for(config)}"
            raise DataError(
                f"there is no data file {best.spec.path}, which the run was trained on",
                hint=f"name another one: --data FILE{again}",
            )
        return read(best.spec.path, time_stride=config.time_stride, max_samples=config.max_samples)
    spec = read(data)
    if spec.kind == "steady" or min(spec.frames, best.spec.frames) < 2:
        return spec
    return read(data, time_stride=time_stride_for(best, spec))


def check_limit(limit: int | None) -> None:
    """Raises ConfigError for less than a sample; asked before the data is."""
    if limit is not None and limit < 1:
        raise ConfigError(f"--samples {limit}: one sample is the least")


def chosen_samples(best: Best, spec: FieldSpec, split: Split, limit: int | None) -> np.ndarray:
    """Returns the numbers of the samples of a split, `limit` at most."""
    check_limit(limit)
    splits = split_samples(spec.samples, best.config.data) if split != "all" else None
    chosen: np.ndarray = getattr(splits, split) if splits is not None else np.arange(spec.samples)
    return chosen[:limit]


def evaluate(
    best: Best, spec: FieldSpec, samples: np.ndarray, split: Split, tick: Tick = lambda done, total: None
) -> Evaluation:
    """Returns the errors over `samples` and a few examples; `tick(done, total)` counts samples."""
    reader = FieldReader(spec)
    measure = _Steady(best, spec) if spec.kind == "steady" else _Trajectories(best, spec)
    try:
        for done, part in _parts(samples):
            with torch.inference_mode():
                measure.add(reader, part)
            tick(done, len(samples))
    finally:
        reader.close()
    numbers = {
        "checkpoint": str(best.path),
        "name": best.config.name,
        "task": spec.task,
        "parameters": dict(spec.parameters),
        "data": str(spec.path),
        "split": split,
        "samples": len(samples),
        "grid": list(spec.grid),
        "model_grid": list(best.spec.grid),
        "epoch": best.epoch,
        "validation_nrmse": best.validation,
        **measure.numbers(),
    }
    return Evaluation(finite(numbers), tuple(measure.examples), spec)


class _Trajectories:
    def __init__(self, best: Best, spec: FieldSpec) -> None:
        if spec.frames < 2:
            raise DataError(f"{spec.path} has {spec.frames} frame; a prediction is compared with the one after it")
        self.ours = _Ours(best, spec)
        self.spec = spec
        self.examples: list[Example] = []
        names = (*self.ours.rows, "persistence", "autoencoder")
        self.step = {name: PdebenchMetrics() for name in names}
        self.rollout = {name: PdebenchMetrics() for name in names[:-1]}
        self.calibration = {f"{name}, {kind}": self.ours.calibration() for name, kind in self.ours.drawn()}

    def add(self, reader: FieldReader, samples: np.ndarray) -> None:
        true = torch.from_numpy(np.stack([reader.frames(int(sample), 0, self.spec.frames) for sample in samples]))
        before, after = true[:, :-1], true[:, 1:]
        times = self.spec.times.tolist()
        for stage, one in self.ours.predictors.items():
            stepped = self.ours.timed(stage, after[..., 0, 0].numel(), partial(self._one_step, one, before))
            self.step[self.ours.row(stage)].add(stepped, after)
            self.rollout[self.ours.row(stage)].add(one.rollout(true[:, 0], times), after)
            if stage not in CORRECTIONS:
                continue
            several, generator = self.ours.repeated(before), self.ours.generator(samples)
            ways = {
                KINDS[0]: self._one_step(one, several, generator),
                KINDS[1]: one.rollout(several[:, 0], times, generator),
            }
            for kind, drawn in ways.items():
                members = self.ours.apart(drawn)
                self.calibration[f"{stage}, {kind}"].add(members.flatten(1, 2), after.flatten(0, 1))
                table = self.step if kind == KINDS[0] else self.rollout
                table[f"{stage}_ensemble"].add(members.mean(0), after)
        self.step["persistence"].add(before, after)
        self.step["autoencoder"].add(self.ours.operator.reconstruct(after), after)
        self.rollout["persistence"].add(true[:, :1].expand_as(after), after)
        if len(self.examples) < EXAMPLES:
            whole = torch.cat([true[:, :1], self.ours.last.rollout(true[:, 0], times)], dim=1)
            rows = zip(samples, true[..., 0], whole[..., 0], strict=True)
            examples = [Example(int(sample), *(u.numpy() for u in pair)) for sample, *pair in rows]
            self.examples += examples[: EXAMPLES - len(self.examples)]

    def _one_step(self, one: Any, before_BTXC: Tensor, generator: torch.Generator | None = None) -> Tensor:
        times, count = torch.as_tensor(self.spec.times, dtype=torch.float32), len(before_BTXC)
        cond_TK = one.conditions(0.0, 0.0, len(times) - 1).clone()
        cond_TK[:, 0], cond_TK[:, 1] = times.diff(), times[:-1]
        after = one.step(before_BTXC.flatten(0, 1), cond_TK.repeat(count, 1), generator)
        return torch.unflatten(after, 0, (count, len(times) - 1))

    def numbers(self) -> dict[str, Any]:
        times = self.spec.times.tolist()
        by_time = {name: found.nrmse_by_frame() for name, found in self.rollout.items()}
        by_time["autoencoder"] = self.step["autoencoder"].nrmse_by_frame()
        return {
            "frames": len(times),
            "time_step": times[1] - times[0],
            "one_step": {name: found.result() for name, found in self.step.items()},
            "rollout": {
                "steps": len(times) - 1,
                **{name: found.result() for name, found in self.rollout.items()},
                "times": times[1:],
                "nrmse_by_time": by_time,
            },
            **self.ours.numbers(self.calibration),
        }


class _Steady:
    def __init__(self, best: Best, spec: FieldSpec) -> None:
        self.ours, self.forcing = _Ours(best, spec), spec.parameter
        self.mean_XC = to_grid(_mean_solution(best), best.spec, spec)
        self.examples: list[Example] = []
        self.step = {name: PdebenchMetrics() for name in (*self.ours.rows, "mean_field", "autoencoder")}
        self.left: dict[str, list[float]] = {name: [] for name in (*self.ours.rows, "data")}
        self.calibration = {name: self.ours.calibration() for name, kind in self.ours.drawn() if kind == KINDS[0]}

    def add(self, reader: FieldReader, samples: np.ndarray) -> None:
        given, true = (
            torch.from_numpy(np.stack([reader.field(int(sample), name) for sample in samples])) for name in ("a", "u")
        )
        conditions = self.ours.operator.conditions(0.0, 0.0, len(given))
        found = {"mean_field": self.mean_XC.expand_as(true)}
        found["autoencoder"] = self.ours.operator.reconstruct(true.unsqueeze(1))[:, 0]
        for stage, one in self.ours.predictors.items():
            predicted = self.ours.timed(stage, len(given), partial(one.step, given, conditions))
            found[self.ours.row(stage)] = predicted
            if stage in CORRECTIONS:
                several = [self.ours.repeated(part) for part in (given, conditions)]
                members = self.ours.apart(one.step(*several, self.ours.generator(samples)))
                self.calibration[stage].add(members, true)
                found[f"{stage}_ensemble"] = members.mean(0)
        for name, u_BXC in found.items():
            self.step[name].add(u_BXC.unsqueeze(1), true.unsqueeze(1))
        for name, left in self.left.items():
            u_BXC = found.get(name, true)
            left += relative_residual(given[..., 0], u_BXC[..., 0], self.forcing).tolist()
        shown = found[self.ours.rows[-1]]
        for sample, a, truth, prediction in zip(samples, given, true, shown, strict=True):
            if len(self.examples) < EXAMPLES:
                fields = (field[..., 0].numpy() for field in (truth, prediction, a))
                self.examples.append(Example(int(sample), *fields))

    def numbers(self) -> dict[str, Any]:
        return {
            "one_step": {name: found.result() for name, found in self.step.items()},
            "residual": {name: float(np.mean(left)) for name, left in self.left.items()},
            **self.ours.numbers(self.calibration),
        }


class _Ours:
    """What of a checkpoint is evaluated: each stage by itself, and ensembles of those that draw."""

    def __init__(self, best: Best, spec: FieldSpec) -> None:
        self.predictors = predictors_for(best, spec)
        self.operator: Any = self.predictors["operator"]
        self.last: Any = self.predictors[best.stage]
        self.members = best.config.diffusion.members
        self.rows: list[str] = []
        for stage in self.predictors:
            self.rows += [self.row(stage), *([f"{stage}_ensemble"] if stage in CORRECTIONS else [])]
        self.seconds = dict.fromkeys(self.predictors, 0.0)
        self.steps = dict.fromkeys(self.predictors, 0)

    def row(self, stage: str) -> str:
        return "model" if stage == "operator" else stage

    def drawn(self) -> list[tuple[str, str]]:
        return [(stage, kind) for stage in self.predictors if stage in CORRECTIONS for kind in KINDS]

    def calibration(self) -> Calibration:
        return Calibration(self.members)

    def generator(self, samples: np.ndarray) -> torch.Generator:
        return torch.Generator().manual_seed(int(samples[0]))

    def repeated(self, given: Tensor) -> Tensor:
        """Returns the samples once for each member, (M * B, ...): all members are drawn in one pass."""
        return given.repeat(self.members, *(1 for _ in given.shape[1:]))

    def apart(self, drawn: Tensor) -> Tensor:
        """Returns what was drawn for `repeated` samples as (M, B, ...)."""
        return torch.unflatten(drawn, 0, (self.members, -1))

    def timed(self, stage: str, steps: int, predict: Callable[[], Tensor]) -> Tensor:
        began = time.perf_counter()
        predicted = predict()
        self.seconds[stage] += time.perf_counter() - began
        self.steps[stage] += steps
        return predicted

    def numbers(self, calibration: Mapping[str, Calibration]) -> dict[str, Any]:
        weights = {stage: sum(w.numel() for w in one.parameters()) for stage, one in self.predictors.items()}
        return {
            "parameter_count": weights,
            "seconds_a_step": {stage: self.seconds[stage] / self.steps[stage] for stage in self.predictors},
            "ensembles": {name: found.result() for name, found in calibration.items()},
        }


def _mean_solution(best: Best) -> Tensor:
    """Returns the mean of u over the training split of the run's own file, (X, C)."""
    spec = open_for(best)
    reader, total, train = FieldReader(spec), np.zeros(1), split_samples(spec.samples, best.config.data).train
    for sample in train:
        total = total + reader.field(int(sample), "u").astype(np.float64)
    reader.close()
    return torch.from_numpy(np.asarray(total / len(train), dtype=np.float32))


def _parts(samples: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    for start in range(0, len(samples), SAMPLES_AT_ONCE):
        part = samples[start : start + SAMPLES_AT_ONCE]
        yield start + len(part), part


def finite(value: Any) -> Any:
    """Returns the same containers with null for what JSON cannot say: a rollout that diverged."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
