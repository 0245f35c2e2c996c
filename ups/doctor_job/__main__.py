"""Parses the adapter's command line; each verb imports only what it needs, so that `describe` is quick."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path

from diagnostics.api import DoctorError, UsageError, without_garbage_collection
from ups.config import load_config
from ups.doctor_job.request import Request

VERBS = {"describe": "describe", "data": "data", "model": "model", "dry-run": "dry_run", "inspect": "inspect"}
VERBS |= {"regenerate": "regenerate", "ladder": "ladder", "parity": "parity"}


def main(arguments: list[str]) -> int:
    """Answers one verb; returns the exit code."""
    options = _parser().parse_args(arguments)
    rank = int(os.environ.get("RANK", "0"))
    result = Path(str(options.result).replace("{rank}", str(rank))) if options.result else None
    try:
        overrides = (*options.overrides, *_wished(options))
        config = load_config(options.config, overrides)
        with without_garbage_collection():
            verb = importlib.import_module(f"ups.doctor_job.{VERBS[options.verb]}")
        verb.answer(
            Request(
                path=options.config.absolute(),
                overrides=overrides,
                config=config,
                result=result,
                rank=rank,
                world_size=int(os.environ.get("WORLD_SIZE", "1")),
                steps=options.steps,
                apply=options.apply,
                stage=options.stage,
                cache=options.cache.resolve() if options.cache is not None else None,
            )
        )
    except UsageError as error:
        return _say(error, UsageError.exit_code)
    except DoctorError as error:
        return _say(error, error.exit_code)
    return 0


def _wished(options: argparse.Namespace) -> list[str]:
    """Returns what the doctor's own options change in the configuration."""
    wishes = {"training.nproc": options.nproc, "training.backend": options.backend}
    return [f"{key}={value}" for key, value in wishes.items() if value is not None]


def _say(error: DoctorError, code: int) -> int:
    print(error.message, *(f"  {line}" for line in error.hint.splitlines()), sep="\n", file=sys.stderr)  # noqa: T201
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ups.doctor_job")
    parser.add_argument("verb", choices=VERBS)
    parser.add_argument("config", type=Path)
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--result", metavar="FILE", help="where the answer goes; {rank} is filled in")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--nproc", type=int, help="ranks of a dry run, where not those of CONFIG")
    parser.add_argument("--backend", choices=("auto", "nccl", "gloo"), help="where not that of CONFIG")
    parser.add_argument("--stage", default="", help="parity: the stage")
    parser.add_argument("--apply", action="store_true", help="regenerate: do it, and not only say what would be done")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="regenerate: of several caches this one")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
