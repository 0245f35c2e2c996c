"""What is said of graphs that lead elsewhere, of targets and of schedules, from marks put together by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from hand_made import a_job, a_process, agent, frames

from diagnostics.diagnosis.losses import state_cut, targets_outside, targets_unsigned, term_useless
from diagnostics.diagnosis.schedules import schedule_counts_others
from diagnostics.diagnosis.slow import graph_endless
from diagnostics.diagnosis.updates import unfrozen_unheld
from diagnostics.dynamic.job.job import Job
from diagnostics.record.batch_data import BatchSource, LoaderPass, SourceKind
from diagnostics.record.marks.loss_marks import (
    GraphEndless,
    StateCut,
    TargetsOutside,
    TargetsUnsigned,
    TermUseless,
    UnfrozenUnheld,
)
from diagnostics.record.marks.schedule_marks import SchedulePaced
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import Mark

TRAIN = """\
schedule = MultiStepLR(optimizer, [6, 9])
body.requires_grad_(True)
net = nn.Sequential(layer, nn.ReLU())
for x, y in loader:
    state = cell(x, state.detach())
    loss = criterion(net(x), y)
    loss.backward(retain_graph=True)
    optimizer.step()
    schedule.step()
"""
TERM = TermUseless(run=2, optimizer=1, other=0, terms=2, useless=1, path=frames("train.py:7"))
STATE = StateCut(run=2, cell="GRUCell", calls=49, path=frames("train.py:5"))
OUTSIDE = TargetsOutside(
    function="ReluBackward0", low=0.0, high=None, calls=40, numbers=400, outside=200, excess=0.5, variance=1.0,
    path=frames("train.py:6"),
)  # fmt: skip
UNSIGNED = TargetsUnsigned(
    function="cosine_embedding_loss", calls=40, numbers=400, zeros=300, path=frames("train.py:6")
)  # fmt: skip
THAWED = UnfrozenUnheld(
    optimizer=0, step=51, since=41, run=10, name="body.weight", awake=1, path=frames("train.py:8")
)  # fmt: skip
ENDLESS = GraphEndless(passes=40, reached=39, path=frames("train.py:7"))
PACED = SchedulePaced(
    optimizer=0, step=10, rate=0.001, first=6, scheduler="MultiStepLR", stepped=9, horizon=9, made=frames("train.py:1"),
    path=frames("train.py:8"),
)  # fmt: skip


def a_pass(number: int) -> LoaderPass:
    return LoaderPass(
        number=number, batches=20, printed=0, rows=0, order=0, total=0, index_order=0, indexed=True, epoch=None,
        epoch_now=None, ended=True, steps=20, optimizer=0, trained=20, own_epoch_calls=0, other_epoch_calls=0,
        epoch_path=(), began_s=1.0, log=(),
    )  # fmt: skip


def job_of(folder: Path, *marks: Mark) -> Job:
    """Returns the job of one rank that left these marks over 12 epochs of 20 steps."""
    source = BatchSource(
        kind=SourceKind.LOADER, built=(), sampler=(), facts={}, passes=tuple(a_pass(number) for number in range(12))
    )  # fmt: skip
    told = agent(steps=240, sources=(source,))
    process = a_process(100, agent=told, prints=ParameterPrints(marks=marks), argv=("train.py",), cwd=str(folder))
    return a_job(process, code=0, cwd=folder, files={"train.py": TRAIN})


def told(signature: ModuleType, folder: Path, *marks: Mark) -> tuple[str, str]:
    """Returns the first line and the title, ("", "") where nothing is said."""
    at = [replace(one, path=frames(f"{folder}/train.py:{one.path[0].line}")) for one in marks]  # type: ignore[union-attr]
    found = signature.match(job_of(folder, *at))
    return (found.locations[0], found.finding.title) if found is not None else ("", "")


@pytest.mark.parametrize(
    ("signature", "mark", "line", "title"),
    [
        (term_useless, TERM, "train.py:5", "A term of the loss at train.py:7 leads to nothing that the step after it"),
        (state_cut, STATE, "train.py:5", "The GRUCell of train.py:5 is given its own state without the graph at each"),
        (targets_outside, OUTSIDE, "train.py:3", "50% of the targets of the loss at train.py:6 are out of reach: the"),
        (targets_unsigned, UNSIGNED, "train.py:6", "cosine_embedding_loss at train.py:6 is given 1 and 0 where it"),
        (unfrozen_unheld, THAWED, "train.py:2", "body.weight and others were unfrozen before step 41 and never change"),
        (graph_endless, ENDLESS, "train.py:7", "The backward pass at train.py:7 goes back through 39 passes and more"),
        (schedule_counts_others, PACED, "train.py:9", "MultiStepLR of train.py:1 is stepped with each of 240 steps, "),
    ],
)  # fmt: skip
def test_each_is_told_with_the_line_to_change(
    signature: ModuleType, mark: Mark, line: str, title: str, tmp_path: Path
) -> None:
    first, said = told(signature, tmp_path, mark)
    assert first == line
    assert said.startswith(title)


@pytest.mark.parametrize(
    ("signature", "mark"),
    [
        pytest.param(term_useless, replace(TERM, run=1), id="one look at a term"),
        pytest.param(state_cut, replace(STATE, run=1), id="one look at a state"),
        pytest.param(targets_outside, replace(OUTSIDE, excess=0.05), id="a little outside"),
        pytest.param(targets_outside, replace(OUTSIDE, outside=4), id="a few outliers"),
        pytest.param(targets_outside, replace(OUTSIDE, excess=0.0, variance=0.0), id="targets that are all alike"),
        pytest.param(targets_unsigned, replace(UNSIGNED, zeros=2), id="a few zeros"),
        pytest.param(graph_endless, replace(ENDLESS, reached=12), id="twelve chunks"),
        pytest.param(
            schedule_counts_others, replace(PACED, horizon=2, first=1), id="a last milestone that is no epoch"
        ),
        pytest.param(schedule_counts_others, replace(PACED, first=0, horizon=480), id="ended early"),
    ],
)
def test_what_looks_like_it_is_left_alone(signature: ModuleType, mark: Mark, tmp_path: Path) -> None:
    assert told(signature, tmp_path, mark) == ("", "")
