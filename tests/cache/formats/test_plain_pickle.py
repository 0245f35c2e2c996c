from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from diagnostics.cache.file_scan import FileScan, Tally
from diagnostics.cache.scan.one_file import scan_file
from diagnostics.core.findings import Severity

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


class RunsACommand:
    def __reduce__(self) -> Any:
        return os.system, ("touch marker-of-a-command-that-ran",)


class FromBytes:
    """Hands bytes to the loader that torch's storages are unpickled with."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __reduce__(self) -> Any:
        return torch.storage._load_from_bytes, (self.content,)


def scanned(folder: Path, data: bytes, name: str = "sample.pkl") -> FileScan:
    (folder / name).write_bytes(data)
    return scan_file(str(folder / name))


def named(scan: FileScan) -> list[str]:
    return [problem.name for problem in scan.problems]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tensors_in_a_plain_pickle_are_told_by_key(tmp_path: Path, protocol: int) -> None:
    value = {"latent": torch.zeros(30, 40), "more": [torch.ones(3)], "array": np.zeros(1000)}
    scan = scanned(tmp_path, pickle.dumps(value, protocol=protocol))
    assert (scan.code, scan.format, scan.problems, scan.tensors) == ("C111", "pickle", (), 2)
    assert scan.devices == {"cpu": Tally(storages=2, bytes=4812)}
    assert [(fact.key, fact.shape) for fact in scan.facts] == [("latent", (30, 40)), ("more[0]", (3,))]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_device_tag_inside_the_bytes_is_found(tmp_path: Path, protocol: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:2")
    data = pickle.dumps({"latent": torch.zeros(30, 40)}, protocol=protocol)
    scan = scanned(tmp_path, data)
    assert [problem.observed for problem in scan.problems] == ["1 storage tagged cuda:2 (key 0 = latent)"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_command_in_a_plain_pickle_is_an_error(tmp_path: Path, protocol: int) -> None:
    (problem,) = scanned(tmp_path, pickle.dumps([RunsACommand()], protocol=protocol)).problems
    assert (problem.name, problem.severity) == ("unsafe-pickle", Severity.ERROR)
    assert problem.observed.startswith("loading it would import posix.system (byte ")


def test_a_class_of_a_library_is_a_warning_however_many_there_are(tmp_path: Path) -> None:
    (problem,) = scanned(tmp_path, pickle.dumps(torch.nn.Linear(2, 2))).problems
    assert (problem.name, problem.severity) == ("code-in-pickle", Severity.WARNING)


def test_many_harmless_names_do_not_hide_a_dangerous_one(tmp_path: Path) -> None:
    names = b"".join(b"cmine\nclass%d\n" % number for number in range(100))
    scan = scanned(tmp_path, b"\x80\x02(" + names + b"cposix\nsystem\nt.")
    assert named(scan) == ["unsafe-pickle", "code-in-pickle"]


def test_a_command_inside_the_bytes_of_a_storage_is_an_error(tmp_path: Path) -> None:
    torch.save(RunsACommand(), tmp_path / "inner", _use_new_zipfile_serialization=False)
    scan = scanned(tmp_path, pickle.dumps(FromBytes((tmp_path / "inner").read_bytes())))
    assert named(scan) == ["unsafe-pickle"]
    assert scan.problems[0].observed.startswith("loading it would import posix.system (byte ")


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02ctorch.storage\n_load_from_bytes\n.",  # never called
        b"\x80\x02ctorch.storage\n_load_from_bytes\nN\x85R.",  # with what is no bytes
        b"\x80\x02ctorch._tensor\n_rebuild_from_type_v2\n(ctorch.storage\n_load_from_bytes\nNC\x01x\x85NtR.",
        b"\x80\x02ctorch.storage\n_load_from_bytes\nq\x00h\x00\x86.",
    ],
)
def test_the_loader_of_bytes_is_unsafe_where_its_bytes_are_not_read_here(tmp_path: Path, data: bytes) -> None:
    scan = scanned(tmp_path, data)
    assert [problem.name for problem in scan.problems] == ["unsafe-pickle"]
    assert "torch.storage._load_from_bytes" in scan.problems[0].observed


def test_a_pickle_cut_at_any_length_is_never_clean_under_its_name(tmp_path: Path) -> None:
    whole = pickle.dumps({"latent": torch.zeros(3), "name": "a" * 50})
    for length in range(8, len(whole)):
        scan = scanned(tmp_path, whole[:length])
        assert named(scan) == ["truncated-file"], length


@pytest.mark.parametrize("head", [b"\x80\x02.", b"\x80\x04", b"\x80\x05\x95", b"\x80", b"\x80\x02X"])
def test_other_bytes_that_begin_like_a_pickle_are_left_out(tmp_path: Path, head: bytes) -> None:
    for seed in range(30):
        scan = scanned(tmp_path, head + np.random.default_rng(seed).bytes(3000), f"{seed}.dat")
        assert scan.skipped == "not a cache format known here"


def test_pickles_one_after_the_other_are_all_read(tmp_path: Path) -> None:
    scan = scanned(tmp_path, pickle.dumps({"a": torch.zeros(2)}) + pickle.dumps(RunsACommand()))
    assert (named(scan), [fact.key for fact in scan.facts]) == (["unsafe-pickle"], ["[0].a"])


def test_bytes_that_are_named_again_and_again_are_read_once(tmp_path: Path) -> None:
    torch.save(torch.zeros(2), tmp_path / "inner", _use_new_zipfile_serialization=False)
    content = (tmp_path / "inner").read_bytes() + b"\0" * (1 << 20)
    data = b"\x80\x04ctorch.storage\n_load_from_bytes\nq\x00B" + len(content).to_bytes(4, "little") + content
    data += b"q\x01" + b"0h\x00h\x01\x85R" * 50_000 + b"."
    scan = scanned(tmp_path, data)
    assert scan.devices == {"cpu": Tally(storages=1, bytes=8)}
