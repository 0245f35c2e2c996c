"""Ranks that no agent watched, since a script of the job takes away what brings it in: the line to change. Pure."""

from __future__ import annotations

import re

from diagnostics.core.wording import shown_ranks
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.launch.launch_settings import settings_in_scripts
from diagnostics.record.supervisor_facts import ATTACHED

_SET_ANEW = re.compile(r"(?<![\w$])PYTHONPATH=(?![^#;&|]{0,300}\$\{?PYTHONPATH)")
_EMPTIED = re.compile(r"\benv\s+-i\b|\benv\s+-\s|(?<![\w$])unset\s+(?:\w+\s+)*PYTHONPATH\b")

_FOR_ALL = re.compile(
    r"\s*(?:export\s+)?PYTHONPATH=(?:\"[^\"]*\"|'[^']*'|\S*)\s*(?:#.*|;.*|&&.*)?$|\s*unset\s"
)  # no prefix
_OWN_WISH = re.compile(r"-[a-zA-Z]*[EI]")  # python -E, -I: it looks at no variable


def unseen_note(job: Job) -> str:
    """Returns why ranks were seen from outside only, and what to write instead; "" where no script's line tells."""
    ranks = [process for process in job.ranks if process.agent is None and process.rank is not None]
    unseen = [process.rank for process in ranks if process.rank is not None]
    if (
        not unseen
        or job.facts.ended_by == ATTACHED
        or any(_OWN_WISH.match(word) for one in ranks for word in one.argv[1:4])
    ):
        return ""
    programs = {word.rpartition("/")[2] for one in ranks for word in one.argv if word.endswith(".py")}
    lines = [
        line
        for line in settings_in_scripts(job)
        if line.language == "shell" and (_FOR_ALL.match(line.text) or any(one in line.text for one in programs))
    ]
    for pattern, what, instead in (
        (_SET_ANEW, "sets PYTHONPATH anew", "write PYTHONPATH=...:$PYTHONPATH there"),
        (_EMPTIED, "empties the environment", "let PYTHONPATH and UPS_DOCTOR_* through"),
    ):
        found = next((line.location for line in lines if pattern.search(line.text)), "")
        if found:
            return f"{found} {what}: {instead}; the doctor saw {shown_ranks(unseen)} from outside only"
    return ""
