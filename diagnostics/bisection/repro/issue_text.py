"""The text of a bug report: what fails, the script that shows it, what was expected and seen, the environment."""

from __future__ import annotations

import platform

from diagnostics.bisection.case import RunSettings
from diagnostics.bisection.found import Bisection, SettingStatus
from diagnostics.bisection.repro.repro import PHASE_WORDS, Repro
from diagnostics.bisection.repro.text import what_happens
from diagnostics.bisection.tries.failures import OURS
from diagnostics.core.markdown import block, code, fence_of, page

MAX_STACK_LINES = 40


def issue_text(found: Bisection, repro: Repro) -> str:
    """Returns issue.md; nothing in it names the user's own project where the script does not."""
    lines = [f"# {title(found)}", "", "## What happens", "", *_what(found), ""]
    if repro.text:
        lines += ["## Script", "", f"It failed {repro.failed} of {repro.runs} times in a process of its own.", ""]
        fence = fence_of([repro.text])
        lines += [f"{fence}python", repro.text.rstrip("\n"), fence, ""]
    else:
        lines += ["## Script", "", f"There is none: {repro.note}.", "", *(f"- {one}" for one in repro.tried), ""]
    lines += ["## Expected", "", "The script comes to its end with exit code 0.", ""]
    lines += ["## Seen", "", *_seen(found, repro), ""]
    lines += ["## What it needs", "", *_needs(found), ""]
    lines += ["## Environment", "", *_environment(found)]
    return page(["\n".join(lines)])


def title(found: Bisection) -> str:
    """Returns one line that says what fails under which settings."""
    if found.failure is None or found.minimal is None:
        return f"{found.name} does not fail"
    what = found.module_class or found.name
    return f"{what} {what_happens(found.failure)}{_under(found.minimal.settings)}"


def _under(settings: RunSettings) -> str:
    words = []
    if settings.wrapper != "none":
        words.append(settings.wrapper.upper())
    if settings.compile:
        words.append("torch.compile")
    if settings.amp:
        words.append(f"autocast {settings.amp}")
    if settings.checkpointing:
        words.append("activation checkpointing")
    if settings.world > 1:
        words.append(f"{settings.world} ranks ({settings.backend})")
    return f" under {', '.join(words)}" if words else ""


def _what(found: Bisection) -> list[str]:
    failure = found.failure
    if failure is None:
        return []
    phase = PHASE_WORDS.get(failure.phase, "")
    step = f", step {failure.step}" if failure.step else ""
    often = f" ({found.failed} of {found.runs} runs)" if found.runs > 1 else ""
    return [f"{code(found.module_class or found.name)} {what_happens(failure)}{phase}{step}{often}."]


def _seen(found: Bisection, repro: Repro) -> list[str]:
    text = repro.said or (found.failure.text if found.failure is not None else "")
    lines = [line for line in text.strip().splitlines() if not line.startswith(("Extension modules:", *OURS))]
    cut = [*lines[: MAX_STACK_LINES // 2], "...", *lines[-MAX_STACK_LINES // 2 :]]
    return block(lines if len(lines) <= MAX_STACK_LINES else cut) if lines else ["No stack was left."]


def _needs(found: Bisection) -> list[str]:
    rows = [f"- {row.axis} {row.value}: needed; with {row.other} it passes" for row in found.axes
            if row.standing is SettingStatus.NEEDED]  # fmt: skip
    rows += [f"- {row.axis} {row.other}: it passes" for row in found.axes if row.standing is SettingStatus.HEALS]
    none = [row.axis for row in found.axes if row.standing in (SettingStatus.NOT_NEEDED, SettingStatus.NO_EFFECT)]
    rows += [f"- does not matter: {', '.join(dict.fromkeys(none))}"] if none else []
    rows += [f"- {row.wanted}: {row.result}{f' ({row.note})' if row.note else ''}" for row in found.versions]
    return rows or ["- nothing beyond the script"]


def _environment(found: Bisection) -> list[str]:
    return [
        f"- torch {found.torch or 'unknown'}",
        f"- Python {platform.python_version()}, {platform.platform()}",
    ]
