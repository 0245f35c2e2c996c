"""A state was loaded into a model, and not one of its entries fitted.

What it does: compares names where `load_state_dict(..., strict=False)` is called. Where every entry is unexpected and
the model's own are missing, nothing was loaded, and nothing that fitted was loaded into that model later. So it is
where the program takes what fits out of the file it read, finds nothing, and loads the model's own state, whether the
names differ or it looked them up in the wrong place: then no number of the file is in the model. Usually all names have
a prefix too many or too few (`module.` of DistributedDataParallel, `_orig_mod.` of torch.compile, `model.` of
Lightning), the state lies one level deeper in the file, or it was put together and never handed on.

Why it matters: the model that is resumed, fine-tuned or evaluated is a random one.

Fix: strip the prefix (`torch.nn.modules.utils.consume_prefix_in_state_dict_if_present`), and use `strict=True`.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import NothingLoaded

CODE = "D909"
NAME = "checkpoint-not-loaded"
CLASS = "checkpoint-not-loaded"
EXAMINES = AppliesTo.ANY


def match(job: Job) -> Match | None:
    """Returns the ranks that loaded nothing into a model."""
    found = latest(job, NothingLoaded)
    if not found:
        return None
    first = found[0]
    mark, path = first.mark, own(first.process, first.mark.path)[:2]
    at = f" at {job.line(path[0])}" if path else ""
    if mark.fits:
        what = f"it is given its own state back, and nothing of the {mark.keys} entries of the file that fit it"
        seen = Evidence(
            source=f"numbers in the file that was read last, and in the state of {mark.root}",
            observed=f"{', '.join(mark.given)}: others in each",
            expected="those of the file",
        )
    else:
        what = f"none of {mark.keys} names in the state is one of its own"
        seen = Evidence(
            source=f"load_state_dict of {mark.root}: names in the state, and names in the model",
            observed=f"{', '.join(mark.given)}\n{', '.join(mark.wanted)}",
            expected="the same",
        )
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Nothing was loaded into {mark.root}{at}: {what}",
        evidence=[seen],
        fix="fill the state with the entries of the file before it is loaded, and see what the line that chooses them "
        "compares their names with"
        if mark.fits
        else "strip or add the prefix by which the names differ, and load with strict=True",
        places=path,
        confidence=Confidence.CONFIRMED,
    )
