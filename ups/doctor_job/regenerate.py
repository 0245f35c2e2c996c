"""`regenerate`: which files of CONFIG's latent cache can be encoded again, how long that takes, and, asked to, does it.

Answers {"cache", "files": {name: bytes that stay}, "samples", "seconds", "encoder", "done"}; with `--apply` once
more when the files are right. On the CPU, with the encoder that the manifest names.
"""

from __future__ import annotations

from typing import Any

from ups.cache_repair import Repair
from ups.doctor_job.request import Request
from ups.errors import naming
from ups.trained import trained_material


def answer(request: Request) -> None:
    """Writes the answer. Raises DataError where the cache is another encoder's, UpsError where there is no room."""
    with naming(request.path, request.overrides):
        state, material = trained_material(request.config)
        repair = Repair(request.config, material, state)
        said: dict[str, Any] = {
            "cache": str(repair.folder.absolute()),
            "files": dict(repair.damage.kept),
            "samples": repair.damage.samples,
            "seconds": repair.seconds(),
            "encoder": repair.manifest["encoder"],
            "done": False,
        }
        request.write(said)
        if request.apply:
            repair.run()
            request.write(said | {"done": True})
