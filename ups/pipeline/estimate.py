"""What a whole training is going to take, from a few steps of each of its stages."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path
from typing import Any

from ups.data.fields import open_data
from ups.data.pairing import pairing_of
from ups.data.splits import split_samples
from ups.pipeline import programs
from ups.pipeline.engine import Experiment

STEPS = 4  # of each stage: the first one pays for what the others have


def estimate(experiment: Experiment) -> dict[str, Any]:
    """Returns seconds by stage and in all, ranks, core hours and the memory of the largest rank."""
    config = experiment.config
    with tempfile.TemporaryDirectory(prefix="ups-estimate-") as folder:
        result = Path(folder) / "dry_run.json"
        line = ["dry-run", experiment.path, "--result", result, "--steps", STEPS, *experiment.settings]
        programs.run(("-m", "ups.doctor_job"), line)
        found = json.loads(result.read_text(encoding="utf-8"))
    spec = open_data(config.data)
    training = len(split_samples(spec.samples, config.data).train)
    each = dict.fromkeys(config.stages.run, max(1, spec.frames - 1))
    each |= {"autoencoder": spec.frames * len(spec.fields), "operator": len(pairing_of(config.objective, spec))}
    seconds = {}
    for name in config.stages.run:
        settings = getattr(config.stages, name)
        batches = math.ceil(training * each[name] / settings.batch_size)
        steps = settings.epochs * batches
        seconds[name] = found["step_s"][name] * min(steps, settings.max_steps or steps)
    total = sum(seconds.values())
    ranks = int(found["world_size"])
    return {
        "seconds": total,
        "seconds_by_stage": seconds,
        "ranks": ranks,
        "core_hours": total * ranks * config.training.threads_per_rank / 3600,
        "peak_memory_bytes": found["peak_memory_bytes"],
        "checkpoint_bytes": found["checkpoint_bytes"],
    }
