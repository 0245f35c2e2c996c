"""What an audit looks like: as text in 80 columns and in a pipe, as annotations, as JSON, as the table of practices."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rules_for_tests import LINES, WAITS, fails, python, rule
from shown_text import HOSTILE, unprintable

from diagnostics.audit.engine import audit
from diagnostics.audit.found import Audit
from diagnostics.audit.output import checklist, github
from diagnostics.audit.output.filter import Filter
from diagnostics.audit.output.json_text import audit_json
from diagnostics.audit.output.terminal import Lines
from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.console import printable
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.project_file import FileKind, ProjectFile

RULES = {"A901": WAITS, "A902": LINES}
SECRET = "hf_" + "aB3dE5gH7jK9mN1pQ2rS" * 2
LONG = (
    "the DistributedSampler is made before init_process_group(): every rank reads the same samples, and an epoch is as"
    " long as on one rank"
)


def some() -> Audit:
    files = [
        python("train.py", f"import x\n\nif x:\n    é = wait()\n    wait(token='{SECRET}')\n"),
        ProjectFile("run.sh", b"odd\n", FileKind.SHELL),
        python("old.py", "print 1\n"),
    ]
    return replace(audit(files, RULES), seconds=1.25)


def one(text: str, **more: object) -> Audit:
    def check(file: ProjectFile, project: object) -> object:
        yield Violation(file=file, line=1, **{"title": LONG, "fix": "make it later", **more})  # type: ignore[arg-type]

    return audit([python("a.py", text)], {"A101": rule("A101", check)})


def test_findings_stand_at_their_lines_with_steps_and_fix_and_a_summary_ends_the_text() -> None:
    assert list(Lines().of(some(), Filter())) == [
        "run.sh:1:1",
        "   1 | odd",
        "     | ^",
        "warn  A902  line 1",
        "            fix:  none",
        "",
        "train.py:4:9",
        "   4 |     é = wait()",
        "     |         ^",
        "FAIL  A901  wait() waits for ever",
        "            train.py:1: the file begins here",
        "            fix:  give it a timeout",
        "",
        "train.py:5:5",
        "   5 |     wait(token='[redacted]')",
        "     |     ^",
        "warn  A901  wait() waits for ever",
        "            this is likely, not proven",
        "            train.py:1: the file begins here",
        "            fix:  give it a timeout",
        "",
        "skip        old.py: line 1 is no Python 3: Missing parentheses in call to 'print'. Did you mean print(...)?",
        "",
        "2 files: 1 error, 2 warnings, 1 skipped (1.2 s)   explain: ups-doctor explain A901",
        "1 can be fixed: --diff shows how, --fix does it",
    ]


def test_in_80_columns_sentences_wrap_under_themselves_and_long_lines_are_cut_around_the_caret() -> None:
    line = f"x = [{', '.join(str(number) for number in range(100))}]\n"
    found = one(line, column=200, steps=(ExplanationStep(place="a.py:1", text=LONG),), fix=LONG)
    shown = list(Lines(width=80).of(found, Filter()))
    assert shown[:-1] == [
        "a.py:1:200",
        "   1 | ...42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58...",
        "     |                                        ^",
        "FAIL  A101  the DistributedSampler is made before init_process_group(): every",
        "            rank reads the same samples, and an epoch is as long as on one rank",
        "            a.py:1: the DistributedSampler is made before",
        "              init_process_group(): every rank reads the same samples, and an",
        "              epoch is as long as on one rank",
        "            fix:  the DistributedSampler is made before init_process_group():",
        "                  every rank reads the same samples, and an epoch is as long as",
        "                  on one rank",
        "",
    ]
    assert max(map(len, shown)) <= 80
    assert list(Lines(width=80).summary(some(), Filter()))[:2] == [
        "2 files: 1 error, 2 warnings, 1 skipped (1.2 s)",
        "explain: ups-doctor explain A901",
    ]


def test_a_terminal_gets_colours() -> None:
    shown = list(Lines(colour=True).of(one("x = 1\n"), Filter()))
    assert shown[:4] == [
        "\033[1ma.py:1:1\033[0m",
        "   1 | x = 1",
        "     | \033[1;31m^\033[0m",
        f"\033[1;31mFAIL\033[0m  A101  {LONG}",
    ]


def test_control_characters_in_source_reach_no_terminal() -> None:
    shown = "\n".join(Lines().of(one("x = '\x1b[2J'\n", title="\x1b[31m"), Filter()))
    assert "\x1b" not in shown


def test_possible_findings_and_notes_are_counted_and_shown_when_asked_for() -> None:
    possible = one("x = 1\n", confidence=Confidence.POSSIBLE)
    assert list(Lines().of(possible, Filter())) == [
        "1 file, nothing found (0.0 s)",
        "not shown: 1 possible (--possible)",
    ]
    note = one("x = 1\n", severity=Severity.INFO)
    assert list(Lines().of(note, Filter()))[1:] == ["not shown: 1 note (--advice)"]
    assert len(list(Lines().of(possible, Filter(possible=True)))) == 8
    assert next(iter(list(Lines().of(note, Filter(advice=True)))[3:4])).startswith("note  A101  ")


def test_a_rule_that_crashed_is_shown_and_with_verbose_its_traceback() -> None:
    result = audit([python(f"{name}.py", "x = 1\n") for name in "abcdefg"], {"A900": rule("A900", fails)})
    shown = list(Lines().of(result, Filter()))
    assert shown == [
        *(f"CRASH? A900  {name}.py: the rule failed: KeyError: 'no {name}.py'" for name in "abcde"),
        "            and on 2 more files (-v names them)",
        "",
        "7 files: 7 undecided (0.0 s)",
    ]
    assert any("Traceback" in line for line in Lines(verbose=True).of(result, Filter()))


def test_github_reads_annotations_with_everything_escaped() -> None:
    result = one("x = 1\n", title="50% of 1,2:\n3", steps=(ExplanationStep(place="b.py:2", text="there"),))
    assert list(github.lines(result, Filter())) == [
        "::error file=a.py,line=1,col=1,title=A101 finds-a101::50%25 of 1,2:%0A3%0Ab.py:2: there%0Afix: make it later"
    ]
    crashed = audit([python("a,b.py", "x = 1\n")], {"A900": rule("A900", fails)})
    assert list(github.lines(crashed, Filter())) == [
        "::warning file=a%2Cb.py,title=A900::the rule failed: KeyError: 'no a,b.py'"
    ]


def test_json_holds_everything_about_a_finding_and_no_secret() -> None:
    text = audit_json(some(), Filter(), RULES, exit_code=1)
    body = json.loads(text)
    assert SECRET not in text
    assert body["findings"][1] == {
        "code": "A901",
        "name": "finds-a901",
        "severity": "error",
        "confidence": "confirmed",
        "title": "wait() waits for ever",
        "where": "train.py:4:9",
        "path": "train.py",
        "line": 4,
        "column": 9,
        "source": "    é = wait()",
        "steps": [{"place": "train.py:1", "text": "the file begins here"}],
        "fix": "give it a timeout",
        "edits": [{"start": [4, 14], "end": [4, 14], "text": "timeout=60"}],
    }
    assert {key: body[key] for key in body if key not in ("findings", "seconds")} == {
        "schema": 1,
        "exit_code": 1,
        "not_shown": {"possible": 0, "advice": 0, "ignored": 0, "baseline": 0, "unchanged": 0},
        "files": {"read": 2, "python": 1, "shell": 1},
        "skipped": [
            {
                "path": "old.py",
                "problem": "line 1 is no Python 3: Missing parentheses in call to 'print'. Did you mean print(...)?",
                "named": False,
            }
        ],
        "crashed": [],
        "checklist": [
            {
                "text": "nothing waits for ever",
                "codes": ["A901"],
                "findings": 2,
                "files": 1,
                "possible": 0,
                "crashed": 0,
                "seen": False,  # nothing binds `wait`
            }
        ],
    }


def test_the_checklist_says_kept_broken_or_no_case() -> None:
    rules = {
        "A901": WAITS,
        "A902": rule("A902", lambda file, project: (), WORDS=("import",), CHECKLIST="imports are fine"),
        "A903": rule("A903", lambda file, project: (), WORDS=("lambda",), CHECKLIST="lambdas are fine"),
        "A904": rule("A904", lambda file, project: (), CHECKLIST="imports are fine"),
        "A905": rule("A905", lambda file, project: ()),
    }
    result = audit([python("a.py", "import x\nwait()\n")], rules)
    assert list(checklist.lines(checklist.checklist(result, rules))) == [
        "[ ] 1 finding       nothing waits for ever (A901)",
        "[x] ok              imports are fine (A902, A904)",
        " -  not applicable  lambdas are fine (A903)",
        "1 of 2 practices kept, 1 not applicable",
    ]


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("name", HOSTILE)
def test_what_files_and_lines_hold_moves_no_cursor(name: str, colour: bool) -> None:
    files = [
        ProjectFile(f"{name}.py", f"import x\nwait()  # {name!a} {name}\n".encode("utf-8", "replace"), FileKind.PYTHON),
        ProjectFile(f"{name}.sh", b"odd\n", FileKind.SHELL),
        ProjectFile(f"{name}2.py", b"print 1\n", FileKind.PYTHON),
    ]
    told = audit(files, {**RULES, "A903": rule("A903", fails)})
    shown = "\n".join(Lines(width=80, colour=colour, verbose=True).of(told, Filter()))
    assert unprintable(printable(shown, colour=colour), colour=colour) == []
    assert "\033[31mred" not in shown
    assert unprintable(printable("\n".join(github.lines(told, Filter())))) == []
    assert json.loads(audit_json(told, Filter(), RULES, exit_code=1))["exit_code"] == 1
