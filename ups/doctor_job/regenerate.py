"""`regenerate`: which files of CONFIG's latent caches can be encoded again, in how long, and, asked to, does it.

Answers {"cache", "files": {name: bytes that stay}, "samples", "seconds", "encoder", "done"}; of several problems
{"caches": [the same, one a problem]}. With `--apply` once more when the files are right, `--cache FOLDER` of that one
alone. On the CPU, with the encoder that the manifest names.
"""

from __future__ import annotations

from typing import Any

from ups.cache_repair import Repair
from ups.data.several.problems import problems
from ups.doctor_job.request import Request
from ups.errors import naming
from ups.trained import trained_material


def answer(request: Request) -> None:
    """Writes the answer. Raises DataError where a cache is another encoder's, UpsError where there is no room."""
    with naming(request.path, request.overrides):
        repairs = []
        for task, one in problems(request.config).items():
            if request.cache in (None, one.cache_dir.resolve()):
                state, material = trained_material(request.config, task)
                repairs.append(Repair(one, material, state))
        said = [_said(repair) for repair in repairs]
        request.write(_whole(said, request))
        if request.apply:
            for repair in repairs:
                repair.run()
            request.write(_whole([one | {"done": True} for one in said], request))


def _said(repair: Repair) -> dict[str, Any]:
    return {
        "cache": str(repair.folder.absolute()),
        "files": dict(repair.damage.kept),
        "samples": repair.damage.samples,
        "seconds": repair.seconds(),
        "encoder": repair.manifest["encoder"],
        "done": False,
    }


def _whole(said: list[dict[str, Any]], request: Request) -> dict[str, Any]:
    return {"caches": said} if request.config.data.tasks else said[0]
