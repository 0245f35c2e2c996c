"""What a problem of cache files means and what helps, in words that a title goes on with."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Literal

from diagnostics.cache import folder_checks, formats
from diagnostics.core.registry import discover

# What "N of M cache files ..." goes on with, and what helps. A plugin may have MEANINGS and REMEDIES of its own,
# which are asked first, so that a new kind of problem needs no change here. A meaning with {files} in it is the
# whole title.
MEANINGS = {
    "cuda-in-cache": "carry tags of {devices}: a machine without that device, or a forked worker, fails on them",
    "truncated-file": "were cut off: reading them fails, or gives data of another sample",
    "corrupt-file": "do not hold what they say they hold",
    "unsafe-pickle": "would run code that does more than rebuild tensors when they are loaded",
    "checksum-mismatch": "hold other bytes than were written into them: a disk, a copy or a memory module changed them",
    "not-weights-only": "name classes that torch.load(weights_only=True), the default since torch 2.6, refuses",
    "outdated-format": "are in a trial format that today's torch cannot read",
    "oversized-view": "hold far more bytes than their tensors use: small views were saved with their whole storage",
    "path-traversal": "have members that an unpacking program would write outside its folder",
    "requires-grad": "hold plain tensors with autograd's flag or hooks: workers and stacking stumble on them",
    "scan-crashed": "stopped the scanner itself: nothing is known about them",
    "trailing-data": "are longer than what they describe: the rest of an older file, or of a writer that was killed",
}
REMEDIES = {
    "cuda-in-cache": "rewrite the tags to cpu; no tensor is read or copied for it, and no GPU is needed",
    "truncated-file": "make these files again; check the free space first (df -h)",
    "corrupt-file": "make these files again",
    "unsafe-pickle": "do not load them unless you know who wrote them; save plain tensors, lists and dicts instead",
    "checksum-mismatch": "make these files again, or copy them again from where they were right",
    "not-weights-only": "save plain tensors, lists, dicts, numbers and strings; where the files are your own: "
    "torch.serialization.add_safe_globals",
    "outdated-format": "load them with the torch that wrote them, and save them with "
    "_use_new_zipfile_serialization=False, which every torch reads",
    "oversized-view": "clone before saving: tensor.clone(); of files that are there: ups-doctor fix-cache --compact",
    "path-traversal": "do not unpack them; torch itself never does",
    "requires-grad": "detach before saving: tensor.detach()",
    "scan-crashed": "report this, with the message and, where you may, one of the files",
    "trailing-data": "make these files again if they should hold more; otherwise their readers ignore the rest",
}


def words(table: Literal["MEANINGS", "REMEDIES"], code: str, name: str) -> str:
    """Returns what `table` says about a problem: the plugin's own words, else the common ones, else its name."""
    common, unknown = (
        (MEANINGS, f"have a problem: {name.replace('-', ' ')}")
        if table == "MEANINGS"
        else (REMEDIES, f"read what it is: ups-doctor explain {code}")
    )
    own: Mapping[str, str] = getattr(_plugins().get(code), table, {})
    return own.get(name) or common.get(name) or unknown


@cache
def _plugins() -> dict[str, ModuleType]:
    return discover(formats) | discover(folder_checks)
