"""Healthy files that few formats expect, hostile ones of old protocols, and the twin of each."""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diagnostics.cache.file_scan import FileScan
from diagnostics.cache.scan.one_file import scan_file

WRITE_SHARDED = """
import sys, torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
torch.distributed.init_process_group("gloo", init_method="file://" + sys.argv[1] + "/store", rank=0, world_size=1)
mesh = init_device_mesh("cpu", (1,))
weight = distribute_tensor(torch.ones(4, 4), mesh, [Shard(0)])
torch.save({"weight": weight, "bias": distribute_tensor(torch.ones(4), mesh, [Replicate()])}, sys.argv[1] + "/rank0.pt")
torch.distributed.destroy_process_group()
"""
WRITE_PROGRAM = """
import sys, torch
program = torch.export.export(torch.nn.Linear(4, 4), (torch.ones(1, 4),))
torch.export.save(program, sys.argv[1] + "/program.pt2")
"""


class RunsACommand:
    def __reduce__(self) -> Any:
        return os.system, ("touch marker-of-a-command-that-ran",)


def written_by(program: str, folder: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, env=environment, timeout=240)


def seen(path: Path) -> list[str]:
    """What the scan says of a file, in short."""
    scan: FileScan = scan_file(str(path))
    return [scan.skipped] if scan.skipped else [problem.name for problem in scan.problems]


def test_sharded_tensors_of_one_rank_are_what_torch_takes_and_clean(tmp_path: Path) -> None:
    written_by(WRITE_SHARDED, tmp_path)
    scan = scan_file(str(tmp_path / "rank0.pt"))
    assert (scan.problems, list(scan.devices)) == ((), ["cpu"])


def test_an_exported_program_is_no_cache_file(tmp_path: Path) -> None:
    written_by(WRITE_PROGRAM, tmp_path)
    assert seen(tmp_path / "program.pt2") == ["not a cache format known here"]
    renamed = (tmp_path / "program.pt2").rename(tmp_path / "program.pt")
    assert seen(renamed) == ["not a cache format known here"]


def test_torch_files_in_an_ordinary_zip_archive_are_left_out_and_a_lost_pickle_is_not(
    torch_files: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(torch_files / "clean.pt", "set/clean.pt")
        archive.write(torch_files / "cuda.pt", "set/cuda.pt")
    assert seen(tmp_path / "all.zip") == ["not a cache format known here"]
    with zipfile.ZipFile(torch_files / "clean.pt") as source, zipfile.ZipFile(tmp_path / "lost", "w") as archive:
        for name in source.namelist():
            if not name.endswith("data.pkl"):
                archive.writestr(name, source.read(name))
    assert seen(tmp_path / "lost") == ["corrupt-file"]


def test_an_npz_without_arrays_is_whole_and_the_same_bytes_are_no_torch_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "none.npz")
    assert seen(tmp_path / "none.npz") == ["an archive of nothing"]
    (tmp_path / "none.npz").rename(tmp_path / "none.pt")
    assert seen(tmp_path / "none.pt") == ["corrupt-file"]


@pytest.mark.parametrize("name", ["sample.pkl", "sample.pt", "sample"])
@pytest.mark.parametrize("protocol", [0, 1])
def test_an_old_pickle_that_would_run_a_command_is_found_and_one_of_data_is_not(
    tmp_path: Path, protocol: int, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(pickle.dumps({"x": [RunsACommand()]}, protocol=protocol))
    assert seen(path) == ["unsafe-pickle"]
    (tmp_path / "data.pkl").write_bytes(pickle.dumps({"x": [1, "os", "system"]}, protocol=protocol))
    assert seen(tmp_path / "data.pkl") == ["not a cache format known here"]


def test_an_old_instance_opcode_runs_a_command_too_and_a_text_about_it_does_not(tmp_path: Path) -> None:
    (tmp_path / "sample.pkl").write_bytes(b"(S'true'\nios\nsystem\n.")
    assert seen(tmp_path / "sample.pkl") == ["unsafe-pickle"]
    (tmp_path / "notes.md").write_bytes(b"A pickle may hold\n\ncos\nsystem\n(S'true'\ntR.\n")
    assert seen(tmp_path / "notes.md") == ["not a cache format known here"]


@pytest.mark.parametrize("name", ["_pickle.loads", "numpy.testing._private.utils.runstring"])
def test_a_plain_pickle_that_unpickles_or_runs_text_is_unsafe(tmp_path: Path, name: str) -> None:
    module, _, function = name.rpartition(".")
    (tmp_path / "sample.pkl").write_bytes(f"\x80\x02c{module}\n{function}\nX\x01\0\0\0a\x85R.".encode("latin-1"))
    assert seen(tmp_path / "sample.pkl") == ["unsafe-pickle"]


def test_a_memo_entry_beyond_the_pickle_is_corrupt_as_an_unpickler_would_allocate_all_before_it(
    tmp_path: Path,
) -> None:
    for slot, expected in ((4, []), (1 << 31, ["corrupt-file"])):
        with zipfile.ZipFile(tmp_path / "sample.pt", "w") as archive:
            archive.writestr("archive/version", "3\n")
            archive.writestr("archive/data.pkl", b"\x80\x02]r" + struct.pack("<I", slot) + b".")
        assert seen(tmp_path / "sample.pt") == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<!DOCTYPE html>\n<title>Sign in</title>", "an HTML page, as a server sends one in place of a file"),
        ("  <html><body>404</body></html>", "an HTML page, as a server sends one in place of a file"),
        ("<svg></svg>", "begins with b'<svg></s'"),
    ],
)
def test_a_page_of_html_in_place_of_a_file_is_told_as_one(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "encoder.pt"
    path.write_text(text)
    (problem,) = scan_file(str(path)).problems
    assert told in problem.observed
