from __future__ import annotations

import platform

from diagnostics.bisection.case import Configuration, RunSettings, Source
from diagnostics.bisection.found import AxisRow, Bisection, SettingStatus
from diagnostics.bisection.repro.issue_text import issue_text
from diagnostics.bisection.repro.repro import Repro
from diagnostics.bisection.trial import Failure, FailureKind

FOUND = Bisection(
    name="shop:make",
    attempts=(),
    minimal=Configuration(source=Source(factory="shop:make"), settings=RunSettings(world=2, wrapper="ddp")),
    failure=Failure(
        kind=FailureKind.SIGNAL, detail="SIGSEGV", phase="forward", step=1, text="Segmentation fault\nshop.py:3 f"
    ),
    failed=2,
    runs=3,
    modules=("blocks.1",),
    module_class="Block",
    axes=(
        AxisRow(axis="world size", value="2", other="1", standing=SettingStatus.NEEDED),
        AxisRow(axis="threads", value="2", other="1", standing=SettingStatus.NOT_NEEDED),
    ),
    torch="2.13.0",
)
REST = f"""
## What it needs

- world size 2: needed; with 1 it passes
- does not matter: threads

## Environment

- torch 2.13.0
- Python {platform.python_version()}, {platform.platform()}
"""


def test_a_report_upstream_has_the_script_and_what_it_said() -> None:
    repro = Repro(text="import torch\n", failed=3, runs=3, said="exit codes of the ranks: [-11, 1]")
    expected = """# Block dies of SIGSEGV under DDP, 2 ranks (gloo)

## What happens

`Block` dies of SIGSEGV in its forward, step 1 (2 of 3 runs).

## Script

It failed 3 of 3 times in a process of its own.

```python
import torch
```

## Expected

The script comes to its end with exit code 0.

## Seen

```
exit codes of the ranks: [-11, 1]
```
"""
    assert issue_text(FOUND, repro) == expected + REST


def test_a_report_without_a_script_says_what_was_tried() -> None:
    repro = Repro(note="no script fails in the same way by itself", tried=("blocks.1 alone: it does not fail",))
    text = issue_text(FOUND, repro)
    assert "There is none: no script fails in the same way by itself.\n\n- blocks.1 alone: it does not fail\n" in text
    assert "```\nSegmentation fault\nshop.py:3 f\n```" in text
