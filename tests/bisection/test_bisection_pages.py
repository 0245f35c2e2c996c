from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from bisected import FOUND, HEALTHY, reported
from shown_text import HOSTILE, page_faults, poisoned, unprintable

from diagnostics.bisection.found import Bisection, SettingStatus
from diagnostics.bisection.report.json_text import json_text
from diagnostics.bisection.report.markdown import markdown
from diagnostics.bisection.report.terminal import outcome_lines, said_by
from diagnostics.bisection.report.words import headline, needs
from diagnostics.bisection.trial import FailureKind
from diagnostics.core.console import printable
from diagnostics.report.run_report import RunReport

PAGE = """\
# Bisection of model.make

**blocks.1.attn (Attention, model.py:6) dies of SIGSEGV in forward on ranks 0, 1.**

- what: `native-crash`, outcome `crash`
- module: `blocks.1.attn`
- where: `model.py:16`, see also `model.py:6`
- needs world size 2
- makes no difference: wrapper, amp
- how sure: without it the model passes; alone it fails in the same way

Next step: fix model.py:16, with the script that shows it. Until it is fixed, threads 2 avoids it.

```
python reports/one/repro.py
```

## What the failure needs

| setting    | in the failing case | compared with |            |
| ---------- | ------------------- | ------------- | ---------- |
| world size | `2`                 | `1`           | needed     |
| wrapper    | `ddp`               | `none`        | not needed |
| amp        | `off`               | `bfloat16`    | no effect  |
| threads    | `1`                 | `2`           | heals      |

Not tried: compile.

## Ways of training it

| way    | result     |                                   |
| ------ | ---------- | --------------------------------- |
| ddp    | fails      |                                   |
| fabric | cannot run | Lightning Fabric is not installed |

## The model

![The module tree](tree.svg)

```
! (the model)  Net
o   inp  Linear
!   blocks  ModuleList
o     0  Block
o       attn  Attention
!     1  Block
X       attn  Attention
-     2 ... 3  2 x Block, 2 modules inside
```

X the culprit; ! the failure is in here; o not needed: it still fails with a stand-in in its place; - not tried.

## Evidence

- without blocks.1.attn it passes
- blocks.1.attn alone it fails in the same way

```
Segmentation fault
/home/ann/model.py:16 forward
```

## Looking for a failing case

| way of training it        | result                    | runs |     |
| ------------------------- | ------------------------- | ---: | --- |
| ddp, 2 ranks, gloo on cpu | fails: SIGSEGV in forward |    1 |     |

## What it cost

17 tries in 61 s, torch 2.13.0.

## Files

| file       | what it is                                    |
| ---------- | --------------------------------------------- |
| `repro.py` | stand-alone script that fails in the same way |

## Run it again

```
ups-doctor bisect-model model:make --inputs model:batch
```
"""
SCREEN = """\
FAIL  blocks.1.attn (Attention, model.py:6) dies of SIGSEGV in forward on ranks 0, 1
      where   model.py:16
      needs   world size 2
      not     wrapper, amp
      sure    without it the model passes; alone it fails in the same way
      repro   reports/one/repro.py, the module alone; needs torch only: failed in the same way 3 of 3 times
      next    fix model.py:16, with the script that shows it. Until it is fixed, threads 2 avoids it.
              python reports/one/repro.py"""
HEALTHY_PAGE = """\
# Bisection of model.make

**model.make does not fail: 1 way of training it was tried, 1 run.**

Next step: run the real training under watch; what fails only there lies in its loss, later batches, or around it.

```
ups-doctor run -- YOUR TRAINING COMMAND
```

## Looking for a failing case

| way of training it           | result     | runs |                                   |
| ---------------------------- | ---------- | ---: | --------------------------------- |
| ddp, 2 ranks, gloo on cpu    | passes     |    1 |                                   |
| fabric, 2 ranks, gloo on cpu | cannot run |    1 | Lightning Fabric is not installed |

## What it cost

2 tries in 8 s, torch 2.13.0.

## Run it again

```
ups-doctor bisect-model model:make --inputs model:batch
```
"""


def test_the_page_has_the_verdict_first_and_what_it_rests_on_after_it() -> None:
    files = [("repro.py", "stand-alone script that fails in the same way")]
    assert markdown(reported(FOUND), FOUND, files) == PAGE


def test_the_screen_says_what_fails_what_it_needs_and_what_to_run() -> None:
    assert "\n".join(outcome_lines(FOUND, reported(FOUND))) == SCREEN


def test_of_a_model_that_does_not_fail_both_say_how_often_it_was_tried() -> None:
    assert markdown(reported(HEALTHY), HEALTHY, []) == HEALTHY_PAGE
    assert outcome_lines(HEALTHY, reported(HEALTHY)) == [
        "ok    model.make does not fail: 1 way of training it was tried, 1 run",
        "      not run fabric, 2 ranks, gloo on cpu: Lightning Fabric is not installed",
        "      next    run the real training under watch; what fails only there lies in its loss, later batches, or",
        "              around it.",
        "              ups-doctor run -- YOUR TRAINING COMMAND",
    ]
    of_script = replace(HEALTHY, training="torchrun --nproc-per-node 2 train.py")
    last = outcome_lines(of_script, reported(of_script))[-1]
    assert last == "              ups-doctor run -- torchrun --nproc-per-node 2 train.py"


def test_report_json_is_that_of_a_watched_run_and_what_the_tries_gave() -> None:
    data = json.loads(json_text(reported(FOUND), FOUND))
    assert {one.name for one in fields(RunReport)} - {"trace"} <= data.keys()
    told = {
        name: data[name] for name in ("schema", "kind", "outcome", "failure_class", "module", "location", "exit_code")
    }
    assert told == {
        "schema": 1,
        "kind": "bisect-model",
        "outcome": "crash",
        "failure_class": "native-crash",
        "module": "blocks.1.attn",
        "location": "model.py:16",
        "exit_code": 1,
    }
    found = data["bisection"]
    assert found["needed"] == [{"axis": "world size", "value": "2"}]
    assert (found["not_needed"], found["no_effect"]) == (["wrapper"], ["amp"])
    assert found["heals_with"] == [{"axis": "threads", "value": "2"}]
    assert found["failure"]["kind"] == "signal"
    assert found["repro"] == {
        "file": "repro.py", "failed": 3, "runs": 3, "note": "the module alone; needs torch only",
    }  # fmt: skip
    healthy = json.loads(json_text(reported(HEALTHY), HEALTHY))
    assert (healthy["outcome"], healthy["failure_class"], healthy["module"]) == ("ok", "none", None)


def test_no_module_is_named_where_the_fault_lies_outside_or_in_the_model_itself() -> None:
    outside = replace(FOUND, modules=(), outside="it fails before the model gets a batch")
    assert (reported(outside).module, outside.exit_code) == (None, 1)
    assert headline(outside) == (
        "model.make dies of SIGSEGV in forward on ranks 0, 1, and no module of it is the cause: "
        "it fails before the model gets a batch"
    )
    itself = replace(FOUND, modules=("",), module_class="Net")
    assert (reported(itself).module, itself.exit_code) == (None, 1)
    assert headline(itself) == "the model itself (Net, model.py:6) dies of SIGSEGV in forward on ranks 0, 1"


def test_several_modules_are_told_as_what_they_are() -> None:
    each, both = (
        replace(FOUND, modules=("a", "3"), relation="each"),
        replace(FOUND, modules=("a", "b"), relation="together"),
    )
    assert headline(each).startswith("each of a and module 3 (Attention, model.py:6) dies")
    assert headline(both).startswith("a and b together (Attention, model.py:6) dies")
    # The report of a watched run has one: where it was seen to fail, else the first of any, the last of a set.
    seen = replace(reported(FOUND), module="a")
    assert [reported(one).module for one in (each, both)] == ["a", "b"]
    assert [reported(one, seen).module for one in (each, both)] == ["a", "a"]


def test_a_search_that_came_to_no_end_is_undecided() -> None:
    cut = replace(FOUND, modules=(), undecided="the tries ran out")
    assert (cut.exit_code, reported(cut).module) == (3, None)
    assert headline(cut).endswith("which module it is stays undecided: the tries ran out")
    resume = "ups-doctor bisect-model model:make --report-dir reports/one --resume"
    assert outcome_lines(replace(cut, resume=resume), reported(cut))[-2:] == [
        "      next    go on where it stopped; what was tried is not tried again.",
        f"              {resume}",
    ]


@pytest.mark.parametrize("width", [0, 60, 80])
def test_on_any_terminal_the_command_to_go_on_with_is_one_line(width: int) -> None:
    cut = replace(FOUND, modules=(), undecided="the tries ran out")
    resume = f"ups-doctor bisect-model model:make --inputs model:make_batch --report-dir {'a' * 60}/b --resume"
    *lines, last = outcome_lines(replace(cut, resume=resume), reported(cut), width=width)
    assert last == f"              {resume}"
    assert max(map(len, lines)) <= (width or 110)
    *lines, last = outcome_lines(replace(FOUND, folder="two words"), reported(FOUND), width=width)
    assert last == "              python 'two words/repro.py'"


def test_what_no_watch_can_see_is_told_by_the_tries() -> None:
    assert FOUND.failure is not None
    told = {
        kind: (report.outcome.value, report.failure_class)
        for kind in (FailureKind.NONFINITE, FailureKind.DISAGREE, FailureKind.HANG, FailureKind.MEMORY)
        for report in [reported(replace(FOUND, failure=replace(FOUND.failure, kind=kind)))]
    }
    assert told == {
        FailureKind.NONFINITE: ("silent-wrong", "nan-on-rank"),
        FailureKind.DISAGREE: ("silent-wrong", "rank-divergence"),
        FailureKind.HANG: ("hang", "rank-stalled"),
        FailureKind.MEMORY: ("crash", "host-oom"),
    }


def test_a_failure_that_needs_no_setting_says_so() -> None:
    rows = tuple(replace(row, standing=SettingStatus.NO_EFFECT) for row in FOUND.axes)
    said = "needs none of these settings: it fails in one process, without a wrapper"
    assert needs(replace(FOUND, axes=rows)) == said


def test_a_watched_run_that_names_a_module_which_the_tries_rule_out_is_not_believed() -> None:
    about = {"failure_class": "native-crash", "root_cause": "inp died", "locations": ("model.py:9",)}
    seen = replace(reported(HEALTHY), location="model.py:9", **about)
    wrong, right = replace(seen, module="blocks.0.attn"), replace(seen, module="blocks.1.attn")
    report = reported(FOUND, wrong)
    assert (report.location, report.locations) == ("model.py:16", ("model.py:16", "model.py:6"))
    assert "inp died" not in report.root_cause
    report = reported(FOUND, right)
    assert (report.location, report.locations) == ("model.py:9", ("model.py:9", "model.py:16", "model.py:6"))
    assert report.root_cause.endswith("The watched run: inp died")


def test_an_exception_is_told_in_its_own_words() -> None:
    assert FOUND.failure is not None
    text = "Traceback (most recent call last):\n  ...\ntorch.OutOfMemoryError: first words\nmore words"
    failure = replace(FOUND.failure, kind=FailureKind.EXCEPTION, detail="OutOfMemoryError", text=text)
    assert said_by(failure) == "torch.OutOfMemoryError: first words"
    assert said_by(FOUND.failure) == ""


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("found", [FOUND, HEALTHY])
def test_what_a_model_calls_its_things_breaks_no_page_and_moves_no_cursor(found: Bisection, name: str) -> None:
    told: Bisection = poisoned(found, name)
    report = poisoned(reported(found), name)
    assert page_faults(markdown(report, told, [("repro.py", name)])) == []
    assert unprintable(json_text(report, told)) == []
    assert unprintable(printable("\n".join(outcome_lines(told, report)))) == []
    coloured = printable("\n".join(outcome_lines(told, report, colour=True)), colour=True)
    assert coloured.count("\033") == 2
