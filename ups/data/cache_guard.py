"""Refuses a latent cache that would harm a training, before anything of it is read.

A foreign device tag, a damaged file and latents of another encoder each give one sentence that names the
file, the key and the device, with the command that repairs it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from diagnostics.api import Finding, ScanResult, Severity, scan
from ups.data import latent_cache
from ups.errors import CacheRefusedError, DataError

DANGEROUS = ("cuda-in-cache", "unsafe-pickle")  # said first: they harm whoever loads the file, whatever it is for
HARMLESS_DEVICES = ("", "cpu", "meta")


class Alive:
    """Tells those who wait for the scan that it goes on."""

    def __init__(self, alive: Callable[[], None]) -> None:
        self._alive = alive

    def scanned(self, files: int, bad: int) -> None:
        """Passes it on."""
        self._alive()

    def found(self, scan: object) -> None:
        """Says nothing: the first bad file is named at the end."""


def examine(folder: Path, expected: Mapping[str, Any], alive: Callable[[], None] = lambda: None) -> None:
    """Raises CacheRefusedError where `folder` holds files that no reader should open, or not what is `expected`.

    Nothing is loaded or unpickled; `alive` is called for each file.
    """
    found = scan([folder], observer=Alive(alive))
    errors = [finding for finding in found.findings if finding.severity is Severity.ERROR]
    _refuse(folder, found, [finding for finding in errors if finding.name in DANGEROUS])
    try:
        latent_cache.check(folder, expected)
    except DataError as error:
        raise CacheRefusedError(error.message, hint=error.hint) from error
    _refuse(folder, found, errors)


def _refuse(folder: Path, found: ScanResult, errors: list[Finding]) -> None:
    if not errors:
        return
    first, *others = errors
    also = f"; also {', '.join(sorted({other.name for other in others}))}" if others else ""
    raise CacheRefusedError(
        f"the latent cache {folder} is refused: {first.title} ({_place(found, first)}){also}", hint=_hint(folder, first)
    )


def _place(found: ScanResult, finding: Finding) -> str:
    """Returns the first file that shows it, with the key and the device where it is a device's tag."""
    for one in found.bad_files:
        if finding.name == "cuda-in-cache" and one.path == finding.where:
            for fact in one.facts:
                if fact.device not in HARMLESS_DEVICES:
                    return f"{one.path}: key {fact.key or 'of the whole file'!r} is tagged {fact.device}"
    proof = finding.evidence[0]
    expected = f" (expected {proof.expected})" if proof.expected else ""
    return f"{proof.source}: {proof.observed}{expected}"


def _hint(folder: Path, finding: Finding) -> str:
    if finding.name in DANGEROUS:
        return f"ups-doctor fix-cache {shlex.quote(str(folder))}"
    if finding.name == "unreadable-file" and finding.fix is not None:
        return "\n".join(finding.fix.commands)
    return latent_cache.REPAIR
