from __future__ import annotations

import json
from dataclasses import replace

import pytest
from examples import HEALTHY, LEFT_OVER, MIXED, outcome

from diagnostics.core import redaction
from diagnostics.core.findings import Severity, Status, Verdict
from diagnostics.report.terminal import outcome_lines, summary_line, value_text, verdict_json, verdict_lines

NOTED = outcome("P106", "core-dumps", "host", findings=(replace(LEFT_OVER, severity=Severity.INFO),))


def test_a_healthy_verdict_is_one_line() -> None:
    assert list(verdict_lines(HEALTHY)) == ["2 checks, nothing found (1.0 s)"]


def test_verbose_shows_what_a_healthy_verdict_rests_on() -> None:
    assert list(verdict_lines(HEALTHY, verbose=True)) == [
        "ok    P101  python 3.11.7, torch 2.13.0+cpu",
        "            import_seconds: 1.062",
        "            torch: 2.13.0+cpu",
        "            took: 0.25 s",
        "ok    P303  2 ranks met on gloo in 41 ms",
        "            took: 0.50 s",
        "",
        "2 checks, nothing found (1.0 s)",
    ]


def test_failures_carry_proof_and_fix_and_the_summary_names_the_worst() -> None:
    assert list(verdict_lines(MIXED)) == [
        "warn  P110  pid 4121 of an earlier run holds port 29500",
        "            this is likely, not proven",
        "            read: ps -fp 4121: ada 4121 1",
        "                  python train.py --token [redacted]",
        "            fix:  stop it (this deletes or stops something)",
        "                  kill 4121",
        "FAIL  P204  /dev/shm holds 64 MiB; 8 workers need about 1.8 GiB",
        '            read: os.statvfs("/dev/shm"): 64.0 MiB free (expected 1.8 GiB)',
        "            fix:  give the container more shared memory, or use fewer workers",
        "                  docker run --shm-size=4g ...",
        "                  ups train CONFIG --set training.workers=0",
        "HUNG  P302  gloo rendezvous: no answer in 30 s; stacks in stacks.txt",
        "CRASH? P401  values: ValueError: a fault",
        "",
        "6 checks: 1 error, 1 warning, 2 undecided, 1 skipped (31.2 s)   explain: ups-doctor explain P204",
    ]


def test_a_skip_says_why_in_its_own_line() -> None:
    assert list(outcome_lines(MIXED.outcomes[3])) == ["skip  P301  nccl all reduce (needs P204, which found an error)"]


def test_verbose_shows_the_traceback_of_a_crash() -> None:
    assert list(outcome_lines(MIXED.outcomes[5], verbose=True)) == [
        "CRASH? P401  values: ValueError: a fault",
        "            Traceback (most recent call last):",
        '              File "values.py", line 3, in probe',
        "            ValueError: a fault",
        "            took: 0.25 s",
    ]


def test_colour_paints_the_mark_alone() -> None:
    assert list(outcome_lines(HEALTHY.outcomes[0], colour=True)) == [
        "\033[32mok\033[0m    P101  python 3.11.7, torch 2.13.0+cpu"
    ]


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        (Verdict(outcomes=(), seconds=0.0), "0 checks, none of them ran (0.0 s)"),
        (Verdict(outcomes=(MIXED.outcomes[3],), seconds=0.1), "1 check, none of them ran, 1 skipped (0.1 s)"),
        (
            Verdict(outcomes=(HEALTHY.outcomes[0], MIXED.outcomes[3]), seconds=0.1),
            "2 checks, nothing found, 1 skipped (0.1 s)",
        ),
        (
            Verdict(outcomes=(HEALTHY.outcomes[0], NOTED), seconds=0.1),
            "2 checks, nothing found, 1 note (0.1 s)",
        ),
        (
            Verdict(outcomes=(NOTED, MIXED.outcomes[4]), seconds=30.0),
            "2 checks: 1 undecided, 1 note (30.0 s)   explain: ups-doctor explain P302",
        ),
        (
            Verdict(outcomes=(MIXED.outcomes[4],), seconds=30.0),
            "1 check: 1 undecided (30.0 s)   explain: ups-doctor explain P302",
        ),
    ],
)
def test_the_summary_never_calls_a_skip_a_pass(verdict: Verdict, line: str) -> None:
    assert summary_line(verdict) == line


def test_no_control_character_from_outside_reaches_the_terminal() -> None:
    hostile = outcome("P602", "data", "data", Status.SKIPPED, reason="evil\x1b[2J\nname")
    assert list(outcome_lines(hostile)) == ["skip  P602  data (evil\\x1b[2J\\nname)"]


def test_json_is_the_whole_verdict_without_secrets() -> None:
    answer = json.loads(verdict_json(MIXED, exit_code=1, command="ups-doctor preflight"))
    assert {key: answer[key] for key in ("schema", "exit_code", "command", "seconds")} == {
        "schema": 1,
        "exit_code": 1,
        "command": "ups-doctor preflight",
        "seconds": 31.2,
    }
    assert answer["outcomes"][1] == {
        "code": "P110",
        "name": "left-over-processes",
        "stage": "host",
        "status": "done",
        "title": "left over processes",
        "seconds": 0.25,
        "findings": [
            {
                "code": "P110",
                "name": "left-over-process",
                "severity": "warning",
                "title": LEFT_OVER.title,
                "where": "pid 4121",
                "evidence": [
                    {
                        "source": "ps -fp 4121",
                        "observed": "ada 4121 1\npython train.py --token [redacted]",
                        "expected": "",
                    }
                ],
                "fix": {"text": "stop it", "commands": ["kill 4121"], "destructive": True},
                "confidence": "likely",
                "role": "root",
            }
        ],
        "reason": "",
        "detail": "",
        "applies": True,
        "measured": {},
    }


@pytest.mark.parametrize(
    ("value", "shown"), [(1.0625, "1.062"), (123456.7, "123457"), ("text", "text"), ([1, 2], "[1, 2]"), (True, "true")]
)
def test_measured_values_are_short(value: object, shown: str) -> None:
    assert value_text(value) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://ada:secret@host/x", "https://[redacted]@host/x"),
        ("redis://:pw@host:6379", "redis://[redacted]@host:6379"),
        ("python train.py --api-key abc123 --epochs 2", "python train.py --api-key [redacted] --epochs 2"),
        ("python train.py --token=abc", "python train.py --token=[redacted]"),
        ('WANDB_API_KEY=0123 "password": "x y"', 'WANDB_API_KEY=[redacted] "password": "[redacted]"'),
        ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [redacted]"),
        ("the key is hf_abcdefghijklmnopqrstu", "the key is [redacted]"),
        ("--max-tokens 128 tokenizer=bpe tokens=7", "--max-tokens 128 tokenizer=bpe tokens=7"),
        ("MASTER_ADDR=10.0.0.1", "MASTER_ADDR=10.0.0.1"),
        ("author=Ada keyboard=de monkey: 3", "author=Ada keyboard=de monkey: 3"),
    ],
)
def test_secrets_are_hidden_and_nothing_else(text: str, shown: str) -> None:
    assert redaction.text(text) == shown


def test_only_telling_variables_are_reported_and_their_secrets_are_hidden() -> None:
    environ = {
        "NCCL_DEBUG": "INFO",
        "HOME": "/home/ada",
        "WORLD_SIZE": "2",
        "SLURM_JWT_TOKEN": "abc",
        "CUDA_VISIBLE_DEVICES": "0,1",
        "TORCH_HUB": "https://ada:pw@host",
        "WANDB_API_KEY": "123",
    }
    assert redaction.environment(environ) == {
        "CUDA_VISIBLE_DEVICES": "0,1",
        "NCCL_DEBUG": "INFO",
        "SLURM_JWT_TOKEN": "[redacted]",
        "TORCH_HUB": "https://[redacted]@host",
        "WORLD_SIZE": "2",
    }
