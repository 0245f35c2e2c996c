"""The units of a run: computed once from its training split, kept for good, and held against the data they are of."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

from ups.data.normalisation import Normalisation
from ups.distributed import World, first_decides
from ups.errors import ConfigError
from ups.run_folder import RunFolder

SAME = 1e-6  # relatively: sums over the same numbers may differ in their last digits from machine to machine


def agreed_units(folder: RunFolder, data: Path, world: World, compute: Callable[[], Normalisation]) -> Normalisation:
    """Returns the units of a run on every rank; a resumed run and a second stage go on in the same.

    Raises ConfigError on every rank where `data` is no longer what they were computed from.
    """
    return Normalisation.from_dict(first_decides(lambda _: _units(folder, data, compute).to_dict(), world))


def _units(folder: RunFolder, data: Path, compute: Callable[[], Normalisation]) -> Normalisation:
    path, file = folder.normalisation, data.stat()
    seen = {"bytes": file.st_size, "modified_ns": file.st_mtime_ns}
    if not path.exists():
        found = compute()
        folder.root.mkdir(parents=True, exist_ok=True)  # of one of several problems
        found.save(path, seen)
        return found
    kept = Normalisation.load(path)
    # A copy of the file has another time and may be as good; to read all of it again may take minutes.
    if json.loads(path.read_text(encoding="utf-8")).get("data") != seen:
        _check_same(kept, compute(), data, folder.root)
        kept.save(path, seen)
    return kept


def _check_same(kept: Normalisation, found: Normalisation, data: Path, root: Path) -> None:
    before, now = kept.to_dict(), found.to_dict()
    for measure, fields in before.items():
        for field, values in fields.items():
            others = now[measure].get(field, [])
            scale = max(map(abs, before["std"][field]))  # a mean may be nothing but rounding
            same = len(values) == len(others) and all(
                math.isclose(one, other, rel_tol=SAME, abs_tol=SAME * scale)
                for one, other in zip(values, others, strict=True)
            )
            if not same:
                numbers = (", ".join(f"{one:.6g}" for one in row) for row in (values, others))
                raise ConfigError(
                    f"{data} is not what the run in {root} was trained on: over its training split the {measure} of "
                    f"{field} was {next(numbers)} and is {next(numbers)}",
                    hint="put the file back, or start another run: --set output.dir=...",
                )
