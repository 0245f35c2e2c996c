"""One checkpoint is a folder: the files of each rank, and a manifest that names them all with their checksums.

    <output.dir>/checkpoints/operator-0003-00000120/     stage, epoch and steps: names sort as the training went
        .metadata  __0_0.distcp  __1_0.distcp            torch.distributed.checkpoint's
        rank-0.pt  rank-1.pt                             what each rank has for itself: random generators, meters
        manifest.json                                    what was trained when, bytes and sha256 of every file

It is written as `<name>.writing`, and gets its name once everything in it is on disk.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ups.errors import DataError, from_os_error
from ups.run_folder import sync_folder, write_atomically
from ups.stages import ORDER

FORMAT = 2  # 1 was one file, last.pt
MANIFEST = "manifest.json"
WRITING, REPLACED = ".writing", ".replaced"
_NAME = re.compile(rf"({'|'.join(ORDER)})-(\d{{4,}})-(\d{{8,}})")


@dataclass(frozen=True, slots=True)
class FileSum:
    """What the manifest says of one file."""

    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> FileSum:
        """Returns the sums of a file as it is on disk."""
        with path.open("rb") as file:
            return cls(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def name_of(stage: str, epoch: int, step: int) -> str:
    """Returns the folder's name."""
    return f"{stage}-{epoch:04d}-{step:08d}"


def whole(checkpoints: Path) -> list[Path]:
    """Returns the folders that were finished, the newest first; whether they are still good is not looked at."""
    found = []
    for path in checkpoints.iterdir() if checkpoints.is_dir() else ():
        named = _NAME.fullmatch(path.name)
        if named and path.is_dir():
            found.append(((ORDER.index(named[1]), int(named[2]), int(named[3])), path))
    return [path for _, path in sorted(found, reverse=True)]


def write_manifest(folder: Path, facts: Mapping[str, Any], files: Mapping[str, FileSum]) -> None:
    """Writes the last file of a checkpoint."""
    sums = {name: {"bytes": one.bytes, "sha256": one.sha256} for name, one in sorted(files.items())}
    content = {**facts, "format": FORMAT, "files": sums}
    content["sha256"] = _digest(content)
    write_atomically(folder / MANIFEST, (json.dumps(content, indent=1) + "\n").encode())


def read_manifest(folder: Path) -> dict[str, Any]:
    """Returns what the manifest says. Raises DataError for one that is missing, damaged or newer than this program."""
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise from_os_error(error, action="cannot read the checkpoint's manifest", path=path) from error
    except ValueError as error:
        raise DataError(f"{path} is damaged: {error}") from error
    if not isinstance(content, dict) or content.get("sha256") != _digest(content):
        raise DataError(f"{path} is damaged: its own checksum differs")
    if content.get("format") != FORMAT:
        raise DataError(f"{path} has format {content.get('format')}, {FORMAT} is what this program reads")
    return content


def problems(folder: Path, manifest: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """Returns one sentence for each of these files that is not what the manifest says."""
    found = []
    for name in names:
        said = manifest["files"][name]
        try:
            seen = FileSum.of(folder / name)
        except OSError as error:
            found.append(f"{name} cannot be read ({error.strerror})")
            continue
        if seen.bytes != said["bytes"]:
            found.append(f"{name} has {seen.bytes} bytes, {said['bytes']} were written")
        elif seen.sha256 != said["sha256"]:
            found.append(f"the checksum of {name} differs")
    return found


def publish(temporary: Path, final: Path) -> None:
    """Gives a finished folder its name; a damaged one that has it already is put aside and removed."""
    sync_folder(temporary)
    aside = final.with_name(final.name + REPLACED)
    if final.exists():
        shutil.rmtree(aside, ignore_errors=True)
        final.rename(aside)
    temporary.rename(final)
    sync_folder(final.parent)
    shutil.rmtree(aside, ignore_errors=True)


def remove_unfinished(checkpoints: Path) -> list[Path]:
    """Removes what a run that died was writing; returns it. No other run writes here."""
    found = [path for end in (WRITING, REPLACED) for path in checkpoints.glob(f"*{end}")]
    mine = [path for path in found if _NAME.fullmatch(path.name.rpartition(".")[0]) and path.is_dir()]
    for path in mine:
        shutil.rmtree(path, ignore_errors=True)
    return mine


def _digest(content: Mapping[str, Any]) -> str:
    plain = json.dumps({key: value for key, value in content.items() if key != "sha256"}, sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()
