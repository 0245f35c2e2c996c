"""Records are untrusted: half-written, cut, mutated or hostile files give reasons, never exceptions."""

from __future__ import annotations

import os
import stat
import struct
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diagnostics.agent.areas import AgentFile as Writer
from diagnostics.agent.areas import Strings
from diagnostics.agent.frames import CallPaths
from diagnostics.agent.shared import layout
from diagnostics.core.errors import DoctorError
from diagnostics.core.frame import Frame
from diagnostics.core.frames import shown_path, user_frames
from diagnostics.dynamic.job.last_activity import last_activity
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.record.agent_file import decode_agent_file
from diagnostics.record.record import RunRecord, make_record_folder, read_agent_file
from diagnostics.record.stacks import parse_fault_report


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A file written by the agent's own code in this process: two events, open modules, one construction."""
    monkeypatch.setenv("RANK", "3")
    counter = iter(range(1, 100))
    writer = Writer(str(tmp_path), lambda: next(counter))
    paths = CallPaths(writer.strings)
    writer.lifecycle.add(b"phase", b"construct", paths.of(sys._getframe()), 0, False)
    writer.lifecycle.add(b"exit", b"", 0, 7, True)
    names = Strings(writer.torch_area("names"))
    modules = writer.torch_area("modules")
    name = names.intern(b"levels.1\0Level\0Net")
    struct.pack_into("<5I", modules, layout.MODULES_HEADER_BYTES, os.getpid(), 1, 0, 0, name)
    ring = layout.MODULES_HEADER_BYTES + layout.STACKS_BYTES
    struct.pack_into("<Q", modules, ring, 9 << layout.SEQUENCE_SHIFT | name)
    return Path(writer.path)


def test_what_was_written_is_read(written):
    agent = read_agent_file(written)
    assert (agent.rank, agent.pid, agent.cwd, agent.problems) == (3, os.getpid(), str(Path.cwd()), ())
    assert [(event.kind, event.text, event.value) for event in agent.events] == [
        ("phase", "construct", 0),
        ("exit", "", 7),
    ]
    assert agent.events[0].path[0].function == "written"
    assert [module.shown for module in agent.open_modules[0].modules] == ["levels.1"]
    assert (agent.entered[0].sequence, agent.entered[0].module.class_name) == (9, "Level")
    assert last_activity(agent, None).where == "forward of levels.1 (Level)"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: b"", "0 bytes are less than a header of 8192"),
        (lambda data: bytes(len(data)), "the process ended before its header was finished"),
        (lambda data: b"\x7fELF....." + data[9:], "starts with b'\\x7fELF....', not with b'UPSDRAG1'"),
        (
            lambda data: data[:8] + struct.pack("<I", 9) + data[12:],
            "has layout version 9, this doctor reads version 1",
        ),
    ],
)
def test_a_file_that_is_none_gives_its_reason(written, change, reason):
    data = change(written.read_bytes())
    with pytest.raises(AgentFileError) as error:
        decode_agent_file(data, "agent-1-1.bin")
    assert str(error.value) == reason


def test_an_area_that_lies_outside_the_file_is_left_out_and_named(written):
    cut = written.read_bytes()[: layout.BASE_BYTES + 64]
    agent = decode_agent_file(cut, "agent-1-1.bin")
    assert [problem.split(" ends")[0] for problem in agent.problems] == [
        "area modules",
        "area names",
        "area collectives",
        "area steps",
        "area timings",
    ]
    assert len(agent.events) == 2
    assert agent.open_modules == ()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(8, 60_000), st.binary(min_size=1, max_size=64)), max_size=20))
def test_mutated_files_never_raise_anything_else(written, changes):
    data = bytearray(written.read_bytes())
    for offset, new in changes:
        data[offset : offset + len(new)] = new
    try:
        agent = decode_agent_file(bytes(data), "agent-1-1.bin")
    except AgentFileError:
        return
    last_activity(agent, None)
    shown = [agent.cwd, *agent.argv, *agent.variables.values(), *(event.text for event in agent.events)]
    assert not any(char in text for text in shown for char in "\x1b\x07\r\x00")


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=400))
def test_any_text_may_stand_in_a_stacks_file(text):
    parse_fault_report(text)
    parse_fault_report("Fatal Python error: Aborted\n\n" + text)


def test_the_last_report_counts_and_other_output_around_it_does_not_matter():
    report = parse_fault_report(
        "Fatal Python error: Aborted\n\n"
        'Thread 0x0000000000000001 (most recent call first):\n  File "a.py", line 1 in wait\n'
        "step 3 loss 0.1\nFatal Python error: Segmentation fault\n\n"
        'Thread 0x0000000000000002 (most recent call first):\n  File "b.py", line 2 in pin\n\n'
        'Current thread 0x0000000000000003 (most recent call first):\n  File "c d.py", line 3 in <module>\n'
        "\nExtension modules: numpy (total: 1)\n"
    )
    assert report is not None
    assert (report.error, len(report.threads)) == ("Segmentation fault", 2)
    assert report.crashed is not None
    assert report.crashed.frames == (Frame(file="c d.py", line=3, function="<module>"),)


def test_user_lines_come_before_installed_packages_and_never_from_torch():
    frames = [
        Frame(file="/usr/lib/python3.11/ctypes/__init__.py", line=1, function="string_at"),
        Frame(file="/v/lib/python3.11/site-packages/lightning/loop.py", line=2, function="step"),
        Frame(file="/v/lib/python3.11/site-packages/torch/nn/modules/module.py", line=3, function="_call_impl"),
        Frame(file="/opt/doctor/agent/modules.py", line=4, function="__call__"),
        Frame(file="/job/train.py", line=5, function="main"),
    ]
    assert [frame.line for frame in user_frames(frames, agent_folder="/opt/doctor/agent")] == [5]
    assert [frame.line for frame in user_frames(frames[:4], agent_folder="/opt/doctor/agent")] == [2]
    assert (shown_path("/job/lib/a.py", "/job"), shown_path("/lib/a.py", "/job")) == ("lib/a.py", "/lib/a.py")


def test_links_pipes_and_huge_files_in_a_record_are_not_followed(tmp_path, written):
    folder = make_record_folder(tmp_path / "record")
    (folder / "agent-1-1.bin").symlink_to(written)
    os.mkfifo(folder / "agent-2-2.bin")
    with (folder / "agent-3-3.bin").open("wb") as file:
        file.truncate(1 << 40)
    (folder / "agent-4-4.ENOSPC").touch()
    (folder / "agent-5-5.bin").write_bytes(b"short")
    record = RunRecord.load(folder)
    assert record.agents == ()
    assert {one.name: one.reason.partition(":")[0] for one in record.unreadable} == {
        "agent-1-1.bin": "[Errno 40] Too many levels of symbolic links",
        "agent-2-2.bin": "not a regular file",
        "agent-3-3.bin": "1099511627776 bytes, the limit is 67108864",
        "agent-4-4.ENOSPC": "no agent's file could be reserved",
        "agent-5-5.bin": "5 bytes are less than a header of 8192",
    }


def test_a_saved_record_reads_the_same_and_is_private(tmp_path, written):
    record = RunRecord.load(written.parent)
    record.save(tmp_path / "copy")
    copy = RunRecord.load(tmp_path / "copy")
    assert (copy.agents, copy.faults) == (record.agents, record.faults)
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o700


def test_an_absent_record_is_one_sentence(tmp_path):
    with pytest.raises(DoctorError) as error:
        RunRecord.load(tmp_path / "absent")
    assert error.value.message == f"cannot read the record {tmp_path}/absent: no such file or folder"
