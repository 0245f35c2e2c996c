"""Predictions of a trained checkpoint for a data file, written in PDEBench's own layout, a few samples at a time.

Trajectories: the first frame of each sample is rolled out to the file's times; steady problems: from a to u. With
members the file holds their mean, and `spread`, their standard deviation, beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from ups.checkpoint import Best
from ups.data.fields import FieldReader, FieldSpec
from ups.data.pde.equations import equation
from ups.data.pdebench_file import new_file
from ups.errors import ConfigError
from ups.evaluate import CORRECTIONS
from ups.forecasts.other_grid import predictors_for
from ups.forecasts.physics_score import physics_score

AT_ONCE = 8  # samples


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How a prediction is to be made."""

    correct: bool = False
    members: int = 0  # draws whose mean and spread are given
    best_of: int = 0  # draws of which the one with the best physics score is given
    seed: int = 0


class _Predictor(Protocol):
    """What predicts, by the shapes of the problem: (given, generator) -> frames or solution."""

    def __call__(self, given_BXC: Tensor, generator: torch.Generator | None = None) -> Tensor: ...


def predict(
    best: Best,
    spec: FieldSpec,
    samples: np.ndarray,
    wish: Wish,
    path: Path,
    tick: Callable[[int], None] = lambda done: None,
) -> None:
    """Writes the predictions for `samples` of a data file into `path`; `tick` counts samples.

    Raises ConfigError for a wish that the checkpoint cannot fulfil, UpsError where `path` cannot be written.
    """
    stage = stage_for(best, wish)
    predictor, found = _predictor(best, spec, stage), equation(spec.task)
    coordinates = dict(zip(found.AXES, spec.coordinates, strict=True))
    if spec.kind == "trajectory":
        coordinates["t"] = np.append(spec.times, 2 * spec.times[-1] - spec.times[-2])
    made_by = {"checkpoint": str(best.path), "stage": stage, "of": str(spec.path), **asdict(wish)}
    reader = FieldReader(spec)
    try:
        with new_file(
            path,
            found,
            samples=len(samples),
            coordinates=coordinates,
            parameter=spec.parameter,
            attributes={"ups_prediction": json.dumps(made_by), "samples": samples.astype(np.int64)},
            beside={"spread": "tensor"} if wish.members else {},
        ) as file:
            for start in range(0, len(samples), AT_ONCE):
                part = samples[start : start + AT_ONCE]
                file.write(start, _fields(reader, part, predictor, wish))
                tick(start + len(part))
    finally:
        reader.close()


def stage_for(best: Best, wish: Wish) -> str:
    """Returns which stage of the checkpoint predicts. Raises ConfigError where it has none for this wish."""
    draws = wish.members or wish.best_of
    if wish.members and wish.best_of:
        raise ConfigError("--members gives the mean of all draws, --best-of one of them", hint="give one of the two")
    for name, count in (("--members", wish.members), ("--best-of", wish.best_of)):
        if count == 1 or count < 0:
            raise ConfigError(f"{name} {count}: two draws are the least")
    if not (wish.correct or draws):
        return "steady" if best.stage == "steady" else "operator"
    able = [stage for stage in reversed(CORRECTIONS) if stage in best.later]
    if not able:
        asked = "--correct" if wish.correct else "--members" if wish.members else "--best-of"
        raise ConfigError(
            f"{best.path} holds no diffusion and no consistency model, which {asked} needs",
            hint="train one: ups train CONFIG --stage diffusion",
        )
    return best.stage if best.stage in able else able[0]


def _predictor(best: Best, spec: FieldSpec, stage: str) -> _Predictor:
    one: Any = predictors_for(best, spec)[stage]
    if spec.kind == "steady":
        conditions = best.surrogate().conditions
        return lambda given, generator=None: one.step(given, conditions(0.0, 0.0, len(given)), generator)
    return lambda given, generator=None: one.rollout(given, spec.times.tolist(), generator)


@torch.inference_mode()
def _fields(reader: FieldReader, samples: np.ndarray, predictor: _Predictor, wish: Wish) -> Mapping[str, np.ndarray]:
    spec = reader.spec
    steady = spec.kind == "steady"
    rows = [reader.field(int(one), "a") if steady else reader.frames(int(one), 0, 1)[0] for one in samples]
    given = torch.from_numpy(np.stack(rows))
    draws = wish.members or wish.best_of
    seeds = (wish.seed * 1_000_003 + int(samples[0]) * max(1, draws) + draw for draw in range(draws))
    drawn = [predictor(given, torch.Generator().manual_seed(seed)) for seed in seeds]
    spread = None
    if wish.members:
        members = torch.stack(drawn)
        predicted, spread = members.mean(0), members.std(0)
    elif wish.best_of:
        scores = torch.stack([physics_score(spec, given, one) for one in drawn])
        chosen = scores.argmin(0)
        predicted = torch.stack([drawn[int(draw)][row] for row, draw in enumerate(chosen)])
    else:
        predicted = predictor(given)
    found = {"tensor": _with_first(given, predicted, steady)}
    if spread is not None:
        found["spread"] = _with_first(torch.zeros_like(given), spread, steady)
    return {"nu": given[..., 0].numpy(), **found} if steady else found


def _with_first(given_BXC: Tensor, predicted: Tensor, steady: bool) -> np.ndarray:
    """Returns what the file's dataset holds: the first frame and those after it, or the solution with its axis of 1."""
    frames = predicted.unsqueeze(1) if steady else torch.cat([given_BXC.unsqueeze(1), predicted], dim=1)
    array: np.ndarray = (frames[..., 0] if frames.shape[-1] == 1 else frames).numpy()
    return array
