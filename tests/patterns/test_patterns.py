"""Every regular expression of the project takes a time that grows about linearly, whatever text it is given."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache

import pytest
from adversaries import Adversary, adversaries
from collecting import Found, all_patterns
from growth import searched, verdict

from diagnostics.agent.shared import redaction as hiding
from diagnostics.core import redaction
from diagnostics.core.line_clipping import clipped_lines
from diagnostics.dynamic.job.job_from_logs import clean, job_from_logs
from diagnostics.record.launcher_log import read_launcher_log
from diagnostics.record.stacks import parse_fault_report
from diagnostics.record.tracebacks import tracebacks
from diagnostics.static.launch_files.shell_lexer import ShellError
from diagnostics.static.launch_files.shell_parser import parse

# Patterns that are made where code runs and cannot be told here, with why they are harmless.
MADE_WHERE_CODE_RUNS = {
    "diagnostics/audit/scripts/variable_not_exported.py": "the name of a variable between borders, and bounded texts",
    "diagnostics/audit/signals/target_deleted_by_make.py": "the name of a variable at the beginning of a line",
    "diagnostics/dynamic/launch/launch_settings.py": "escaped words between borders",
    "diagnostics/machine/processes/core_dumps.py": "the kernel's core pattern, over names of files: 255 bytes",
}


@cache
def collected() -> tuple[list[Found], list[str]]:
    return all_patterns()


def slow_on(one: Found) -> str:
    """Returns the first string that the pattern is slow on, in words; "" where there is none."""
    work = searched(one.pattern, anchored=one.anchored)
    for adversary in adversaries(one.pattern):
        if said := verdict(work, adversary.text):
            return f"{one.where}: {adversary}: {said}"
    return ""


def test_no_pattern_of_the_project_is_slow_on_any_text() -> None:
    found, _ = collected()
    assert len(found) > 500
    assert [said for one in found if (said := slow_on(one))] == []


def test_every_pattern_of_the_project_is_known_here() -> None:
    _, unknown = collected()
    assert {where.rpartition(":")[0] for where in unknown} == set(MADE_WHERE_CODE_RUNS)


@pytest.mark.parametrize(
    "slow",
    [
        r"(?:a+)+$",  # exponential
        r"(\w+)=(\S*)",  # a search that begins anew at each letter
        r"\s+$",
        r"begin.*end",
        r"^\s*(?:,\s*)?(?:#[^\n]*\s*)?\)$",
        r"(?:^|(?P<script>[^\s:][^:]*): (?:line )?(?P<line>\d+): )(?P<what>[^\s:]+): Permission denied",
    ],
)
def test_a_slow_pattern_is_found_and_its_linear_twin_is_not(slow: str) -> None:
    twins = {
        r"(?:a+)+$": r"(?<!a)a+$",
        r"(\w+)=(\S*)": r"(?<!\w)(\w+)=(\S*)",
        r"\s+$": r"(?<!\s)\s+$",
        r"begin.*end": r"begin.{0,100}end",
        r"^\s*(?:,\s*)?(?:#[^\n]*\s*)?\)$": r"^\s*+(?:,\s*+)?+(?:#[^\n]*+\s*+)?+\)$",
    }
    assert slow_on(Found(re.compile(slow), "twin", anchored=False)) != ""
    if slow in twins:
        assert slow_on(Found(re.compile(twins[slow]), "twin", anchored=False)) == ""


UNITS = (
    "a", " ", "\t", "\n", "\r", "\x00", '"', "'", "(", "[", "{", "<", "/", ":", "=", "-", "\\", ";", "|", "$", "0",
    "a b", "a=", "a: ", "token=", "--password ", "-----BEGIN PRIVATE KEY-----", "://", "://a:", "Bearer ", "eyJ", "hf_",
    "Traceback (most recent call last):\n", '  File "a.py", line 1, in f\n', "[rank0]: ", "Fatal Python error: ",
    "exitcode: 1 (pid: 1)\n", "x\\n", "key:\n", "A" * 64 + "\n",
)  # fmt: skip


def shell(text: str) -> object:
    with suppress(ShellError):
        return parse(text)
    return None


READERS = {
    "redact.text": redaction.text,
    "redact.source": lambda text: redaction.source(text, python=True),
    "redact.argv": lambda text: redaction.argv(["train", "--token", text]),
    "redact.line": redaction.line,
    "agent hide": hiding.hide,
    "clipped_lines": clipped_lines,
    "tracebacks": tracebacks,
    "launcher_log": read_launcher_log,
    "fault_report": parse_fault_report,
    "clean": clean,
    "job_from_logs": lambda text: job_from_logs({"a.log": text}, "/"),
    "shell_commands": shell,
}


@pytest.mark.parametrize("name", READERS)
def test_no_reader_of_text_is_slow_on_any_text(name: str) -> None:
    slow = {str(one): said for unit in UNITS if (said := verdict(READERS[name], (one := Adversary("", unit, "")).text))}
    assert slow == {}
