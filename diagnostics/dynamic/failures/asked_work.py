"""What the command line of a job asked for: a training, an evaluation, to go on with an earlier run. Pure."""

from __future__ import annotations

import re

from diagnostics.dynamic.job.job import Job, JobProcess

# Words of a command line that ask for no training.
_NO_TRAINING = re.compile(
    r"(?:^|[-_/=.])(?:help|version|eval\w*|test\w*|infer\w*|predict\w*|valid\w*|export\w*|dry\w*|check\w*"
    r"|smoke|bench\w*|profile|summary|list|convert\w*|generate|sample|describe|probe|h)(?:$|[-_=.])",
    re.IGNORECASE,
)
# Words that ask for a run to go on: `--resume`, `resume_from=last.ckpt`, `--init_from=resume`.
_GOING_ON = re.compile(r"(?<!no)(?:^|[-_/=.])(?:resume[ds]?|continue|restore)(?:$|[-_=.])", re.IGNORECASE)
_NOT_SO = re.compile(r"=(?:0|no|none|null|false|off)?$", re.IGNORECASE)


def asked_for_no_training(job: Job, process: JobProcess) -> bool:
    """Whether the command line asks for an evaluation, a dry run or the like."""
    return any(_NO_TRAINING.search(word) for word in (*job.facts.command[1:], *process.argv[1:]))


def went_on(job: Job) -> bool:
    """Whether a rank restored an optimizer, or was told to go on: such a run may have nothing left to do."""
    if any(one.agent is not None and one.agent.last_event("optimizer-restored") for one in job.ranks):
        return True
    words = (word for argv in (job.facts.command, *(one.argv for one in job.ranks)) for word in argv[1:])
    return any(_GOING_ON.search(word) and not _NOT_SO.search(word) for word in words)
