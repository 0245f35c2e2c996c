"""Files that torch 1.0 to 2.13 themselves wrote, in each format that they had: the tags are found, nothing else is.

They are in `old_torch/<version>`; `old_torch/write.py` made them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.cache.scan.one_file import scan_file

FILES = sorted((Path(__file__).parent / "old_torch").glob("*/*.pt"))
# The trial zip format of torch 1.4 keeps its storages under another name; no later torch reads it.
TRIAL = [path for path in FILES if path.parent.name == "1.4.0" and "-zip-" in path.name]
READABLE = [path for path in FILES if path not in TRIAL]


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def storages(path: Path) -> int:
    """What `write.py` saves: rows are views of `latent`; Adam's step became a tensor in torch 1.12."""
    if path.name.startswith("sample"):
        return 4
    return 30 if tuple(int(part) for part in path.parent.name.split(".")) >= (1, 12) else 24


def test_the_files_come_from_nine_versions_and_both_formats() -> None:
    assert len({path.parent.name for path in FILES}) >= 9
    assert {path.name.split("-")[1] for path in FILES} == {"legacy", "zip"}


@pytest.mark.parametrize("path", READABLE, ids=named)
def test_the_device_that_the_name_tells_is_found_on_every_storage(path: Path) -> None:
    tag = path.stem.rpartition("-")[2].replace("cuda", "cuda:")
    scan = scan_file(str(path))
    assert {device: tally.storages for device, tally in scan.devices.items()} == {tag: storages(path)}
    assert [problem.name for problem in scan.problems] == ([] if tag == "cpu" else ["cuda-in-cache"])


@pytest.mark.parametrize("path", TRIAL, ids=named)
def test_the_trial_format_of_torch_1_4_is_named_and_not_called_damaged(path: Path) -> None:
    problem = scan_file(str(path)).problems[-1]
    assert (problem.name, problem.place) == ("outdated-format", f"{path.stem}/tensors/")
