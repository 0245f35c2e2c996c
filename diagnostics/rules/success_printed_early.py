"""Success is printed whether or not the training succeeded.

What it does: flags messages like "training completed successfully" in a `finally` block or an exception handler around
a training, and before the training in the same block.

Why it matters: the last line of the log is what people read and what scripts search for. A message that a failed run
prints, too, hides the failure for days.

Bad:

    try:
        train()
    finally:
        print("training completed successfully")

Good:

    train()
    print("training completed successfully")

What it cannot see: messages that are put together elsewhere, and status files written by other programs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.analysis.audited_file import AuditedFile
from diagnostics.analysis.flow_files import last_name
from diagnostics.analysis.project import Project
from diagnostics.analysis.swallowed import head, tries_of, unconditional_calls
from diagnostics.analysis.training_code import TrainingCode
from diagnostics.findings import Confidence, Severity
from diagnostics.hits import Hit, hit, step

CODE = "A503"
NAME = "success-printed-early"
SEVERITY = Severity.WARNING
WORDS = ("finally", "except", "try")
_CLAIM = re.compile(
    r"\bsuccess(?:ful(?:ly)?)?\b|\b(?:training|run|job|experiment|fine-?tuning|pre-?training|model)\b[^.]{0,20}"
    r"\b(?:complete[d]?|finished|done|succeeded)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:not|un\w+|fail\w*|error|without|before|until|never|if|abort\w*|interrupt\w*|no|exit\w*|crash\w*|once)\b|unsuccess",
    re.IGNORECASE,
)
_TELLS = re.compile(r"^(?:print|info|warning|log\w*|write|write_text|echo|rank_zero_info|print_rank_0|dump|critical)$")


def check(file: AuditedFile, project: Project) -> Iterator[Hit]:
    """Yields the claims of success that a failed training makes, too."""
    for function in project.functions_in(file):
        for block in tries_of(function):
            trained = project.fact(TrainingCode).training_call(block.body, function)
            if trained is not None:
                yield from _claims(file, block.finalbody, trained, "finally")
                for handler in block.handlers:
                    yield from _claims(file, handler.body, trained, head(handler))


def _claims(file: AuditedFile, statements: list[ast.stmt], trained: ast.Call, where: str) -> Iterator[Hit]:
    if where.startswith("except") and re.search(r"Stop|Finish|Done|Complete|Interrupt", where):
        return
    for call in unconditional_calls(statements):
        text = _claim(call)
        if text:
            yield hit(
                file,
                call,
                f'"{text}" is said in `{where}`: also where the training failed',
                "say it after the training, outside of the try, or in its `else`",
                steps=(
                    step(file, trained, "an error of the training ..."),
                    step(file, call, f'... comes to `{where}`, which says "{text}"'),
                ),
                confidence=Confidence.CONFIRMED if re.search("success", text, re.IGNORECASE) else Confidence.LIKELY,
            )


def _claim(call: ast.Call) -> str:
    if not _TELLS.match(last_name(call.func)):
        return ""
    parts = [one.value for one in ast.walk(call) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    text = " ".join(" ".join(parts).split())
    return text[:60] if _CLAIM.search(text) and not _DOUBT.search(text) else ""
