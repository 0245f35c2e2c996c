"""`data`: one rank opens and reads the data as training will, and lists which samples its sampler gives it.

The real reader, dataset, sampler and loader with the configured workers; but only READ_ITEMS items go
through the loader, and CHECK_BYTES of the file are looked through for values that are not finite.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from ups.config import UpsConfig
from ups.data.datasets import FrameDataset, PairDataset
from ups.data.fields import FieldReader, FieldSpec, open_data
from ups.data.loaders import batches, loader
from ups.data.normalisation import Normalisation
from ups.data.sampler import GlobalBatchSampler, check_enough
from ups.data.several.problems import problems
from ups.data.several.task_items import TaskItems, sampler_for
from ups.data.several.task_sampler import shares
from ups.data.splits import Splits, split_samples
from ups.doctor_job.describe import data_path
from ups.doctor_job.request import Request
from ups.errors import DataError

READ_ITEMS = 64  # of one rank, through its loader
CHECK_BYTES = 128 << 20  # of one rank, of values it looks at; 0.1 s
CHECK_SECONDS = 1.0  # on a slow disk
EPOCHS = 2
STAGE = "operator"  # the longer stage; both cut their epochs by the same sampler


def answer(request: Request) -> None:
    """Writes the answer of this rank; a file that cannot be used is part of it, not an error of its own."""
    began = time.monotonic()
    config, files = request.config, []
    answered: dict[str, Any] = {"dataset_size": 0, "epochs": []}
    read: list[tuple[FieldReader, Splits]] = []
    for one in problems(config).values():
        try:
            read.append(_opened(one, request))
            files.append({"path": str(data_path(one.data).absolute()), "error": ""})
        except DataError as error:
            files.append(_trouble(error, one, request))
    if not any(file["error"] for file in files):
        try:
            answered = _read(request, read)
        except DataError as error:
            files = [_trouble(error, _of(error, config), request)]
    seconds = time.monotonic() - began
    request.write({**answered, "files": files, "workers": config.training.workers, "seconds": seconds})


def _of(error: DataError, config: UpsConfig) -> UpsConfig:
    """Returns the problem whose file an error names, else the first."""
    parts = list(problems(config).values())
    return next((one for one in parts if str(data_path(one.data)) in error.message), parts[0])


def _opened(config: UpsConfig, request: Request) -> tuple[FieldReader, Splits]:
    spec = open_data(config.data)
    reader, splits = FieldReader(spec), split_samples(spec.samples, config.data)
    stages = config.stages
    length = len(dataset_of(STAGE, reader, splits.train))
    check_enough(length, min(getattr(stages, name).batch_size for name in stages.run), request.world_size)
    return reader, splits


def _read(request: Request, opened: Sequence[tuple[FieldReader, Splits]]) -> dict[str, Any]:
    config, parts = request.config, [dataset_of(STAGE, reader, splits.train) for reader, splits in opened]
    dataset = parts[0]
    if config.data.tasks:
        mixed = config.data.balance.batches == "mixed"
        dataset = TaskItems(parts, shares(config, [len(one) for one in parts]), mixed=mixed)
    sampler = sampler_of(STAGE, dataset, config, request.rank, request.world_size)
    epochs = [{"epoch": epoch, "indices": _indices(sampler, epoch)} for epoch in range(EPOCHS)]
    planned = Counter(sampler.order(0)) if config.data.tasks else {}  # in shares: not every sample once
    sampler.set_epoch(0)
    read = _through_the_loader(dataset, sampler, request)
    checked = sum(
        _check_finite(reader, np.concatenate([splits.train, splits.validation, splits.test]), request)
        for reader, splits in opened
    )
    return {
        "dataset_size": len(dataset),
        "epochs": epochs,
        "planned": planned,
        "items_read": read,
        "samples_checked": checked,
    }


def dataset_of(stage: str, reader: FieldReader, samples: np.ndarray) -> Any:
    """Returns the stage's dataset over the file itself; normalised by nothing, so that no statistics are needed."""
    units = unnormalised(reader.spec)
    return (FrameDataset if stage == "autoencoder" else PairDataset)(reader, samples, units)


def unnormalised(spec: FieldSpec) -> Normalisation:
    """Returns mean 0 and standard deviation 1 for every field."""
    return Normalisation(
        mean=dict.fromkeys(spec.fields, (0.0,) * spec.channels), std=dict.fromkeys(spec.fields, (1.0,) * spec.channels)
    )


def sampler_of(stage: str, dataset: Any, config: UpsConfig, rank: int, world_size: int) -> GlobalBatchSampler:
    """Returns the training sampler of one rank, as the loop makes it."""
    batch_size = getattr(config.stages, stage).batch_size
    return sampler_for(dataset, batch_size, rank, world_size, config.seed, shuffle=True)


def _indices(sampler: GlobalBatchSampler, epoch: int) -> list[int]:
    sampler.set_epoch(epoch)
    return [index for batch in sampler for index, weight in batch if weight]  # weight 0 fills up, it is not trained on


def _through_the_loader(dataset: Any, sampler: GlobalBatchSampler, request: Request) -> int:
    read, each = 0, max(1, sampler.global_batch // request.world_size)
    source = batches(loader(dataset, sampler, request.config.training))
    for batch in islice(source, -(-READ_ITEMS // each)):
        read += len(batch["weight"])
    return read


def _check_finite(reader: FieldReader, samples: np.ndarray, request: Request) -> int:
    """Reads this rank's share of all samples, within limits; the reader raises DataError naming a bad one."""
    spec, seen, until = reader.spec, 0, time.monotonic() + CHECK_SECONDS
    each = spec.frames * len(spec.fields) * int(np.prod(spec.grid)) * 4
    mine = np.sort(samples)[request.rank :: request.world_size]
    for sample in mine:
        if seen * each >= CHECK_BYTES or time.monotonic() > until:
            break
        _read_sample(reader, int(sample))
        seen += 1
    return seen


def _read_sample(reader: FieldReader, sample: int) -> None:
    if reader.spec.kind == "trajectory":
        reader.frames(sample, 0, reader.spec.frames)
        return
    for name in reader.spec.fields:
        reader.field(sample, name)


def _trouble(error: DataError, config: UpsConfig, request: Request) -> dict[str, str]:
    # An error that crossed from a worker carries the worker's traceback; its last line is the sentence.
    message = error.message.strip().splitlines()[-1].removeprefix("ups.errors.DataError: ")
    path = data_path(config.data).absolute()
    kinds = {"there is no data file": "missing", "truncated": "truncated", "NaN": "nan"}
    kind = (
        "missing"
        if not path.exists()
        else next((kind for sign, kind in kinds.items() if sign in message), "unreadable")
    )
    fix = error.hint or "ups data info FILE"
    return {
        "path": str(path),
        "error": message,
        "kind": kind,
        "fix": fix.replace("CONFIG", str(request.path)).replace("FILE", str(path)),
    }
