"""ReduceLROnPlateau cuts the rate since what it is given gets better: its mode is that of the opposite.

What it does: reads each number that a ReduceLROnPlateau is given. It is told where the numbers move against its mode
from the beginning, nearly every one beyond all before it and none the other way, the rate was cut meanwhile, and the
number is one that is meant to move like that: what the program calls it (the variable or the entry that holds this very
object) is an accuracy in mode "min" or a loss in mode "max"; without a name, all numbers are shares of one whole count
(17 of 384) that rise by half and more, or a loss that goes along with that of the backward passes.

Why it matters: each epoch that improves counts as a bad one. The rate is cut again and again while the model learns,
and training stands still long before it is done. Left alone: losses that rise since the model overfits, accuracies that
fall, what got better in the way of the mode even once beyond its first number.

Fix: say which way is better: `ReduceLROnPlateau(optimizer, mode="max")` for an accuracy.

Bad:

    scheduler = ReduceLROnPlateau(optimizer)          # mode="min"
    scheduler.step(accuracy)

Good:

    scheduler = ReduceLROnPlateau(optimizer, mode="max")
    scheduler.step(accuracy)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import Told, latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own, text_of
from diagnostics.record.marks.schedule_marks import Plateau

CODE = "D953"
NAME = "plateau-waits-the-wrong-way"
CLASS = "wrong-schedule"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST_NUMBERS = 4
BEYOND = 0.7  # of the numbers are beyond all before them, against the mode
MOST_COUNT, NEAR = 20_000, 1e-9  # of samples that a share is one of; how near a double is to such a share
ROUNDED = 10_000  # what is rounded to some digits is a share of this
GROWS, LEAST_GAIN = 1.5, 0.1  # what a share without a name has to gain
ALONG, SPREAD = 2.0, 1.3  # a loss of evaluation by that of the passes before it: at most, and from one to another
SHOWN = 8

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d?")
_HIGHER = frozenset(
    _WORD.findall(
        "acc accuracy accuracies auc auroc auprc f1 ap map iou miou dice psnr ssim bleu rouge recall precision ndcg "
        "mrr hit hits kappa mcc r2 reward rewards return returns top1 top5 correct cider meteor winrate"
    )
)
_LOWER = frozenset(
    _WORD.findall(
        "loss losses nll ppl perplexity err error errors mse mae rmse mape smape wer cer fid ce bce bpb bpc brier ece "
        "fpr lpips kl crossentropy divergence distance cost energy regret"
    )
)
_TURNED = frozenset(_WORD.findall("neg negative negated minus inv inverse inverted"))


def match(job: Job) -> Match | None:
    """Returns the ranks whose rate is cut since their model gets better."""
    told = latest(job, Plateau, lambda mark: mark.scheduler)
    found = [(one, why) for one in told if _moves_against(one.mark) and (why := _why(job, one))]
    if not found:
        return None
    (first, why), mark = found[0], found[0][0].mark
    made, stepped = (own(first.process, path)[:1] for path in (mark.made, mark.path))
    numbers = [one for one in mark.numbers if one is not None]
    other = "max" if mark.mode == "min" else "min"
    of, at = (f" of {job.line(made[0])}" if made else ""), (f" at {job.line(stepped[0])}" if stepped else "")
    moved = "rose" if mark.mode == "min" else "fell"
    return training_match(
        job,
        [one.process for one, _ in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f'ReduceLROnPlateau{of} has mode="{mark.mode}" and is given {why}{at}: it {moved} from {numbers[0]:.4g} '
        f"to {numbers[-1]:.4g} in {len(numbers)} calls, and the rate was cut for that from {mark.first:g} to "
        f"{mark.rate:g}",
        evidence=[
            Evidence(
                source=f"numbers that it was given up to step {mark.step}",
                observed=", ".join(f"{one:.4g}" for one in numbers[-SHOWN:]),
                expected=f"numbers that {'fall' if mark.mode == 'min' else 'rise'} while the model learns, or "
                f'mode="{other}"',
            )
        ],
        fix=f'make it with mode="{other}", or give it what its mode waits for',
        places=(*made, *stepped),
        confidence=Confidence.LIKELY,
    )


def _moves_against(mark: Plateau) -> bool:
    """Whether nearly each number is beyond all before it, against the mode, and none got better than the first."""
    numbers = _turned(mark)
    if len(numbers) < LEAST_NUMBERS or min(numbers) < numbers[0] or mark.mode not in ("min", "max"):
        return False
    beyond = sum(one > max(numbers[:at]) for at, one in enumerate(numbers) if at)
    return beyond >= BEYOND * (len(numbers) - 1)


def _turned(mark: Plateau) -> list[float]:
    """Returns the numbers, which get worse where they rise; none where one is not known."""
    sign = 1 if mark.mode == "min" else -1
    numbers = [sign * one for one in mark.numbers if one is not None and one - one == 0]
    return numbers if len(numbers) == len(mark.numbers) else []


def _why(job: Job, told: Told[Plateau]) -> str:
    """Returns what it is given, "" where that may be meant to be so."""
    mark = told.mark
    wanted = "min" if mark.mode == "max" else "max"  # the mode that fits what it is
    names = mark.names if _way_of(mark.names) else _names_at(job, own(told.process, mark.path)[:1])
    way = _way_of(names)
    if way:
        name = next(one for one in names if _way_of([one]))
        return f"`{name}`" if way == wanted else ""
    if any(_words([one]) & (_LOWER | _HIGHER | _TURNED) for one in (*mark.names, *names)):
        return ""
    if mark.mode == "min" and (count := _count_of(_turned(mark))):
        return f"shares of {count} samples, as accuracies are"
    if mark.mode == "max" and _goes_along(mark):
        return "a loss, which goes along with that of the backward passes"
    return ""


def _way_of(names: Sequence[str]) -> str:
    """Returns the mode that fits what is called so, "" where the names do not say it."""
    words = _words(names)
    if words & _TURNED or bool(words & _HIGHER) == bool(words & _LOWER):
        return ""
    return "max" if words & _HIGHER else "min"


def _words(names: Iterable[str]) -> set[str]:
    return {word.lower() for name in names for word in _WORD.findall(name)}


def _names_at(job: Job, at: Sequence[Frame]) -> tuple[str, ...]:
    """Returns the names in what the line gives to step(), none where it takes something from it."""
    if not at:
        return ()
    try:
        tree = ast.parse(text_of(job, at[0]).removeprefix("else:").strip())
    except (SyntaxError, ValueError):
        return ()
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and _is_step(one) and one.args]
    given = [node for call in calls for node in ast.walk(call.args[0])]
    if any(isinstance(node, ast.USub | ast.Sub | ast.Invert) for node in given):
        return ("negated",)
    names = [node.id for node in given if isinstance(node, ast.Name)]
    names += [node.attr for node in given if isinstance(node, ast.Attribute)]
    return tuple(names + [node.value for node in given if isinstance(node, ast.Constant) and type(node.value) is str])


def _is_step(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "step"


def _count_of(numbers: Sequence[float]) -> int | None:
    """Returns the whole count that all numbers are shares of, in one or in hundredths; None where they are none."""
    if numbers[-1] < GROWS * numbers[0]:
        return None
    for whole in (1, 100):
        shares = [one / whole for one in numbers]
        if shares[0] >= 0 and shares[-1] <= 1 and shares[-1] - shares[0] >= LEAST_GAIN and len(set(shares)) > 2:
            for count in range(2, MOST_COUNT):
                if all(abs(one * count - round(one * count)) <= NEAR * count for one in shares):
                    return count if ROUNDED % count else None
    return None


def _goes_along(mark: Plateau) -> bool:
    """Whether the numbers are about as large as the losses of the passes before each, which fell as they do."""
    pairs = [
        (one, loss)
        for one, loss in zip(mark.numbers, mark.losses, strict=False)
        if one is not None and loss is not None and one > 0 and loss > 0
    ]
    if len(pairs) < LEAST_NUMBERS or len(pairs) < len(mark.numbers) or pairs[-1][1] >= pairs[0][1]:
        return False
    ratios = [one / loss for one, loss in pairs[1:]]  # the first passes lose more than what they come to
    return min(ratios) >= 1 / ALONG and max(ratios) <= min(ALONG, SPREAD * min(ratios))
