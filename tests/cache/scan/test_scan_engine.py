from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from diagnostics.cache.file_scan import FileScan
from diagnostics.cache.formats.half_written import finished_name
from diagnostics.cache.scan.engine import scan, scan_files
from diagnostics.cache.scan.pool import Pool
from diagnostics.cache.scan.worker import WorkerDiedError
from diagnostics.commands.scan_cache import command

DOCTOR = [sys.executable, "-c", "from diagnostics.cli import main; main()", "scan-cache"]


MANY = 30_000  # takes seconds, on a fast machine too


def many(torch_files: Path, folder: Path, count: int, bad_every: int = 500) -> Path:
    """Links of two files that are the folder's own: some file systems allow 65,000 names of one file."""
    folder.mkdir(exist_ok=True)
    sources = [shutil.copy(torch_files / name, folder.parent / f"one-{name}") for name in ("cuda.pt", "clean.pt")]
    for number in range(count):
        os.link(sources[number % bad_every != 0], folder / f"sample_{number:06d}.pt")
    return folder


def too_deep(folder: Path) -> Path:
    """Makes folders in folders until no path to the last one can be named, for root neither."""
    here, name = os.open(folder, os.O_RDONLY), "d" * 250
    for _ in range(18):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    return folder


def test_a_folder_that_cannot_be_listed_is_a_finding_and_the_others_are_scanned(
    torch_files: Path, tmp_path: Path
) -> None:
    too_deep(tmp_path)
    (tmp_path / "z").mkdir()
    shutil.copy(torch_files / "clean.pt", tmp_path / "z")
    result = scan([tmp_path])
    (finding,) = result.findings
    assert (result.recognised, result.failed, result.exit_code) == (1, 0, 1)
    assert finding.title == "1 folder(s) cannot be listed: nothing in there was scanned"
    assert finding.evidence[0].observed == "File name too long"
    assert result.skipped == {"a folder that cannot be listed": 1}
    shutil.rmtree(tmp_path / ("d" * 250))


def test_links_to_folders_are_named_and_not_followed(torch_files: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "round").symlink_to(tmp_path / "cache")
    (tmp_path / "cache" / "out").symlink_to("/")
    shutil.copy(torch_files / "clean.pt", tmp_path / "cache")
    result = scan([tmp_path / "cache"])
    assert (result.files, result.skipped) == (3, {"a link to a folder (name it to scan it)": 2})
    assert result.exit_code == 0


def test_a_linked_folder_that_is_named_is_scanned(torch_files: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(torch_files)
    assert scan([tmp_path / "linked"]).recognised == scan([torch_files]).recognised > 10


def test_a_file_removed_during_the_walk_is_no_finding(tmp_path: Path) -> None:
    (gone,) = scan_files([str(tmp_path / "gone.pt")])
    assert (gone.skipped, gone.problems) == ("removed before it was read", ())


def test_names_of_any_bytes_reach_text_json_and_lists(torch_files: Path, tmp_path: Path) -> None:
    names = [b"new\nline.pt", b"not-utf8-\xff.pt", "\u00e9.pt".encode()]
    for name in names:
        shutil.copy(os.fsencode(torch_files / "cuda.pt"), os.fsencode(tmp_path) + b"/" + name)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}

    def said(*options: str) -> bytes:
        result = subprocess.run([*DOCTOR, *options, tmp_path], capture_output=True, env=environment, timeout=60)
        assert (result.returncode, result.stderr) == (1, b"")
        return result.stdout

    assert said("--list", "-0") == b"".join(os.fsencode(tmp_path) + b"/" + name + b"\0" for name in names)
    text = said("-v")
    assert text.isascii()
    assert b"new\\nline.pt: cuda-in-cache" in text
    assert b"not-utf8-\\udcff.pt: cuda-in-cache" in text
    found = [os.fsencode(bad["path"]) for bad in json.loads(said("--json"))["bad_files"]]
    assert [path.rpartition(b"/")[2] for path in found] == names


def test_a_verbose_scan_lists_all_bad_files_beyond_those_that_are_kept(torch_files: Path, tmp_path: Path) -> None:
    folder = many(torch_files, tmp_path / "cache", 1200, bad_every=1)
    result = CliRunner().invoke(command, ["--list", str(folder)])
    assert result.stdout.split() == [str(path) for path in sorted(folder.iterdir())]


def test_several_processes_give_the_files_in_their_order(torch_files: Path, tmp_path: Path) -> None:
    folder = many(torch_files, tmp_path / "cache", 1500)
    alone, together = scan([folder], jobs=1, deep=True), scan([folder], jobs=3, deep=True)
    assert (together.files, together.findings, together.bad_files) == (alone.files, alone.findings, alone.bad_files)
    paths = [found.path for found in scan_files(map(str, sorted(folder.iterdir())), jobs=3, deep=True)]
    assert paths == [str(path) for path in sorted(folder.iterdir())]


def test_a_killed_process_ends_the_scan_with_a_sentence_and_what_was_found(torch_files: Path, tmp_path: Path) -> None:
    folder = many(torch_files, tmp_path / "cache", 3000, bad_every=1)
    with Pool(iter(map(str, sorted(folder.iterdir()))), jobs=2, deep=False) as pool:
        scans = pool.scans()
        next(scans)
        pool.workers[0].process.kill()
        with pytest.raises(WorkerDiedError) as e:
            list(scans)
    assert "a scanning process was killed by SIGKILL while it had" in str(e.value)
    assert [worker.process.returncode for worker in pool.workers] == [-signal.SIGKILL] * 2


class KillsAWorker:
    """Kills one of our children at the first file that is told of."""

    def scanned(self, files: int, bad: int) -> None:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        for child in children:
            if b"cache.scan.worker" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(int(child), signal.SIGKILL)
                break

    def found(self, scan: FileScan) -> None:
        pass


def test_a_scan_whose_process_is_killed_ends_with_three(torch_files: Path, tmp_path: Path) -> None:
    folder = many(torch_files, tmp_path / "cache", 3000, bad_every=10_000)
    (folder / "sample_000000.pt").unlink()
    result = scan([folder], jobs=2, deep=True, observer=KillsAWorker())
    assert (result.exit_code, result.findings) == (3, ())
    assert 0 < result.files < 2999
    assert "was killed by SIGKILL" in result.stopped


def has_children(process: subprocess.Popen[bytes]) -> bool:
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text() != ""


@pytest.mark.parametrize("later_s", [0, 0.02, 0.1, 0.3])
def test_ctrl_c_while_processes_start_or_scan_prints_no_traceback_and_tells_what_was_found(
    torch_files: Path, tmp_path: Path, later_s: float
) -> None:
    folder = many(torch_files, tmp_path / "cache", MANY)
    for _ in range(5):  # on a busy machine the scan may be through before the signal is sent
        code, output, errors = interrupted(folder, later_s)
        answer = json.loads(output)
        if answer["files"] < MANY:
            break
    assert (code, answer["interrupted"], errors) == (130, True, b"")
    assert answer["files"] == answer["recognised"] < MANY


def interrupted(folder: Path, later_s: float) -> tuple[int, bytes, bytes]:
    """Scans a folder in three processes and presses Ctrl-C some time after the first of them began."""
    options = ["--jobs", "3", "--deep", "--json", "--limit", "0"]
    process = subprocess.Popen(
        [*DOCTOR, *options, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0
    )
    while process.poll() is None and not has_children(process):
        time.sleep(0.001)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(later_s)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    return process.returncode, output, errors


def test_temporary_names_are_told_from_others() -> None:
    names = {
        "a.pt.tmp": "a.pt", "a.pt.tmp.123": "a.pt", "a.pt.partial": "a.pt", ".a.h5.partial-host-12": "a.h5",
        "a.npy.tmp.npy": "a.npy", "a.pt~": "a.pt", "cache.building": "cache", "a.pt.part": "a.pt",
        "a.tmpl.pt": "", "partial.pt": "", "a.parts.pt": "", "a.pt": "", "tmp.pt": "", "a~b.pt": "",
    }  # fmt: skip
    assert {name: finished_name(name) for name in names} == names


@pytest.mark.parametrize("ending", [".tmp", ".partial", ".building", "~"])
def test_a_half_written_file_is_a_warning(torch_files: Path, tmp_path: Path, ending: str) -> None:
    data = (torch_files / "cuda.pt").read_bytes()
    shutil.copy(torch_files / "clean.pt", tmp_path)
    (tmp_path / f"b.pt{ending}").write_bytes(data[:700])
    result = scan([tmp_path])
    (finding,) = result.findings
    assert (finding.code, finding.name, result.exit_code) == ("C122", "half-written", 0)
    assert finding.title == "1 of 2 cache files are temporary files that a writer left behind"
    strict = CliRunner().invoke(command, ["--strict", str(tmp_path)])
    assert strict.exit_code == 1
    assert "1 of 2 cache files have a warning" in strict.stdout


def test_an_unreadable_note_is_a_warning_and_an_unreadable_sample_an_error(torch_files: Path, tmp_path: Path) -> None:
    shutil.copy(torch_files / "clean.pt", tmp_path)
    (tmp_path / "note.txt").symlink_to("nowhere")
    assert scan([tmp_path]).exit_code == 0
    (tmp_path / "sample.pt").symlink_to("nowhere")
    result = scan([tmp_path])
    assert (result.exit_code, [finding.name for finding in result.findings]) == (1, ["unreadable-file"])


MEASURE = """
import resource, sys
from pathlib import Path
from diagnostics.cache.scan.engine import scan
result = scan([Path(sys.argv[1])])
print(result.files, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_files(torch_files: Path, tmp_path: Path) -> None:
    def peak_kib(count: int) -> int:
        folder = many(torch_files, tmp_path / str(count), count, bad_every=20)
        said = subprocess.run([sys.executable, "-c", MEASURE, folder], capture_output=True, text=True, check=True)
        files, peak = map(int, said.stdout.split())
        assert files == count
        return peak

    # What grows is the list of one folder's names: 100 bytes a file; details of bad files are kept up to a limit.
    assert peak_kib(20_000) - peak_kib(1_000) < 8 << 10
