"""`ups-doctor help`: nothing of the README is lost, and no word is its own."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from importlib.metadata import metadata

import pytest

from diagnostics.cli import STOP_SIGNALS, doctor, guarded
from diagnostics.core.spelling import nearest
from diagnostics.manual.man_page import CommandText, man_page
from diagnostics.manual.plain_text import lines_of
from diagnostics.manual.readme import LEAD, about, topics_of

README = str(metadata("ups-doctor").get_payload())
SMALL = """\
# Name

Text before.

## Check a machine

First **bold** [link](#there), one|two.

```
## no heading
**No topic.** in code
```

**A job that hangs.** Waits.

- one
  goes on
- two

### Below

| a | b |
|---|---|
| x \\| y | `z` |

## Lint the code

Last.
"""


@pytest.fixture(autouse=True)
def _signal_handlers_stay() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = guarded(doctor, "ups-doctor", ["help", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_topics_are_sections_and_paragraphs_with_a_name_and_nothing_in_code() -> None:
    topics = topics_of(SMALL)
    assert [(one.title, one.level) for one in topics] == [
        ("Check a machine", 2), ("A job that hangs", LEAD), ("Below", 3), ("Lint the code", 2),
    ]  # fmt: skip
    assert topics[0].text.endswith("| x \\| y | `z` |")
    assert topics[1].text == "**A job that hangs.** Waits.\n\n- one\n  goes on\n- two"


@pytest.mark.parametrize(
    ("words", "titles"),
    [
        ("machine", ["Check a machine"]),
        ("check-mach", ["Check a machine"]),
        ("below", ["Below"]),
        ("the code", ["Lint the code"]),
        ("a", ["Check a machine"]),  # a section goes before the paragraph
        ("nothing", []),
        ("", []),
    ],
)
def test_words_that_begin_those_of_a_title_find_it(words: str, titles: list[str]) -> None:
    assert [one.title for one in about(topics_of(SMALL), words)] == titles


def test_plain_text_keeps_code_and_wraps_the_rest() -> None:
    assert list(lines_of(topics_of(SMALL)[0].text, 34)) == [
        "First bold link, one|two.", "", "    ## no heading", "    **No topic.** in code", "",
        "A job that hangs. Waits.", "", "- one goes on", "- two", "", "Below", "", "a", "    b", "x | y", "    `z`",
    ]  # fmt: skip


def test_no_word_of_the_readme_is_lost_and_none_is_added() -> None:
    topics = topics_of(README)
    assert len(topics) > 40
    for topic in topics:
        plain = re.sub(r"(?<=[^`\[])\[([^\]]+)\]\([^)]*\)", r"\1", topic.text)
        plain = re.sub(r"^ {0,3}```.*$|^\|[ :|-]+\|?$", "", plain, flags=re.MULTILINE)
        shown = "\n".join(lines_of(topic.text, 72))
        assert re.findall(r"\w+", shown) == re.findall(r"\w+", plain), topic.title
        assert "](#" not in shown


def test_help_lists_every_section_and_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, said, _ = run(capsys)
    assert code == 0
    assert [one for one in re.findall(r"^## (.+)$", README, re.MULTILINE) if f"  {one}\n" not in said] == []
    assert {"run", "help", "fix-cache"} <= set(said.split())


def test_a_topic_is_a_part_of_the_readme_a_command_or_a_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "check", "machine")[1].startswith("Check a machine before training\n\n    ups-doctor preflight ")
    own = run(capsys, "top")[1]
    assert guarded(doctor, "ups-doctor", ["top", "--help"]) == 0
    assert capsys.readouterr().out == own
    assert run(capsys, "d401")[1].startswith("D401  failure-hidden-in-rank\n\n")
    assert run(capsys, "several", "hosts")[1].splitlines()[0] == "these have it; name one:"


def test_an_unknown_topic_names_the_nearest_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "audti") == (
        2, "", "error: no topic 'audti'; did you mean 'audit'?\n  list them: ups-doctor help\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("topic", "near"),
    [("nonsense", ""), ("banana", ""), ("perff", "perf"), ("scancache", "scan-cache")],
)
def test_only_what_is_near_is_named(topic: str, near: str, capsys: pytest.CaptureFixture[str]) -> None:
    meant = f"; did you mean '{near}'?" if near else ""
    assert run(capsys, topic)[2] == f"error: no topic '{topic}'{meant}\n  list them: ups-doctor help\n"


def test_a_word_of_one_name_alone_means_that_name() -> None:
    known = ("scan-cache", "fix-cache", "inspect", "bisect-model", "open")
    assert [nearest(word, known) for word in ("bisect", "scan", "cache", "nonsense", "")] == [
        "; did you mean 'bisect-model'?", "; did you mean 'scan-cache'?", "; did you mean 'fix-cache'?", "", "",
    ]  # fmt: skip


def test_the_man_page_has_every_command_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    _, page, _ = run(capsys, "--man")
    plain = page.replace("\\-", "-")
    assert {"run", "scan-cache", "help"} <= set(re.findall(r'^\.SS "([a-z-]+)', plain, re.MULTILINE))
    assert "\\fB--stall-timeout SECONDS\\fR\nEnd a job that makes no progress" in plain
    assert ".SH EXIT STATUS\nExit codes: 0 nothing found" in plain


def test_roff_reads_nothing_of_a_text_as_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = CommandText(name="x", usage='x "A"', text=".PP\n\n'br a\\fB-b `c`", options=(("--o", ".so /etc/x"),))
    page = man_page("prog", "1", "about", [hostile], ".x")
    assert [line for line in page.splitlines() if re.match(r"^\.(so|PP .|x)|^'", line)] == []
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    for text in (page, run(capsys, "--man")[1]):
        done = subprocess.run(
            ["groff", "-man", "-ww", "-Tascii"], input=text, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        assert "EXIT STATUS" in re.sub(".\b", "", done.stdout)
