"""How sentences become lines of a terminal: nothing is lost, and what is to be pasted stays whole."""

from __future__ import annotations

import pytest

from diagnostics.core.wording import fitted, hanging, wrapped

COMMAND = "`ups-doctor attach 4711 --seconds 60 --report-dir a/rather/long/path`"
PATH = "'/a folder/with blanks/report.md'"


@pytest.mark.parametrize("room", [20, 40, 80])
@pytest.mark.parametrize("kept", [COMMAND, PATH])
def test_a_command_and_a_quoted_path_are_never_broken(room: int, kept: str) -> None:
    text = f"look again, and for longer than before: {kept}; it's the job's own, isn't it"
    lines = wrapped(text, room)
    assert " ".join(lines) == text
    assert sum(kept in line for line in lines) == 1
    assert [line for line in lines if len(line) > room and kept not in line] == []


def test_apostrophes_of_prose_hold_nothing_together() -> None:
    text = "the ranks' own words of which 'some' are quoted and of which the ranks' peers know nothing at all"
    assert max(map(len, wrapped(text, 30))) <= 30


def test_what_is_no_terminal_gets_one_line_and_what_fits_stays_as_it_is() -> None:
    assert fitted("a  b " + "c " * 100, 0) == ["a  b " + "c " * 100]
    assert fitted("  a  b", 80) == ["  a  b"]
    assert fitted("  one two three four five six seven eight nine", 40) == [
        "  one two three four five six seven", "    eight nine",
    ]  # fmt: skip
    assert hanging("  why    ", "one two three four five six seven eight nine", 49) == [
        "  why    one two three four five six seven eight", "         nine",
    ]  # fmt: skip


def test_of_more_lines_than_wanted_the_rest_is_said_to_be_left_out() -> None:
    assert wrapped("one two three four five six seven eight nine", 20, lines=1) == ["one two three ..."]
