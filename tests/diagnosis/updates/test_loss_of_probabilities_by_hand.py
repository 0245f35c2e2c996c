"""A loss that is given probabilities is told with the line that makes them, where it was seen more than once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hand_made import a_job, a_process, agent, event, frames

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.updates import loss_of_probabilities
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.loss_marks import LossSquashed
from diagnostics.record.parameter_prints import ParameterPrints

TRAIN = """\
class Net(nn.Module):
    def forward(self, x):
        return {head}
for x, y in loader:
    loss = F.cross_entropy(net(x), y)
    loss.backward()
"""
MARK = LossSquashed(run=2, given="SoftmaxBackward0", taken="LogSoftmaxBackward0", loss=1.1, path=())
SOFTMAX = "self.head(x).softmax(-1)"


def a_run(mark: LossSquashed, folder: Path, head: str = SOFTMAX) -> Job:
    told = agent(event("optimizer", "", f"{folder}/train.py:4"), steps=40)
    mark = replace(mark, path=frames(f"{folder}/train.py:6"))
    process = a_process(100, rank=0, agent=told, prints=ParameterPrints(marks=(mark,)))
    return a_job(process, code=0, cwd=folder, files={"train.py": TRAIN.format(head=head)})


def test_the_softmax_before_a_cross_entropy_is_named(tmp_path: Path) -> None:
    found = loss_of_probabilities.match(a_run(MARK, tmp_path))
    assert found is not None
    assert (found.failure_class, found.finding.confidence) == ("wrong-loss", Confidence.LIKELY)
    assert found.locations == ("train.py:3", "train.py:5", "train.py:6")
    assert found.finding.title == (
        "cross_entropy takes logits and is given probabilities: a softmax stands straight before it, in 2 looks at its "
        "graph"
    )


def test_where_several_lines_take_a_softmax_the_loss_is_named_first(tmp_path: Path) -> None:
    found = loss_of_probabilities.match(a_run(MARK, tmp_path, "F.softmax(\n            F.softmax(x))"))
    assert found is not None
    assert found.locations[:3] == ("train.py:6", "train.py:3", "train.py:4")


def test_other_losses_are_said_in_their_words_and_one_look_is_not_enough(tmp_path: Path) -> None:
    raw = replace(MARK, given="LayerBackward", taken="NllLossBackward0", loss=-3.5)
    binary = replace(MARK, given="SigmoidBackward0", taken="BinaryCrossEntropyWithLogitsBackward0")
    batch = replace(MARK, given="LogSoftmaxBackward0", taken="NllLossBackward0")
    told = [loss_of_probabilities.match(a_run(one, tmp_path)) for one in (raw, binary, batch)]
    assert [one.finding.title.split(" and ")[0].split(" before")[0] for one in told if one is not None] == [
        "nll_loss is given what a layer made", "binary_cross_entropy_with_logits takes logits", "log_softmax",
    ]  # fmt: skip
    assert loss_of_probabilities.match(a_run(replace(MARK, run=1), tmp_path)) is None


def test_a_divergence_is_named_by_its_own_line_where_several_lines_take_a_softmax(tmp_path: Path) -> None:
    of_softmax = replace(MARK, taken="kl_div", loss=None)
    told = [
        loss_of_probabilities.match(a_run(of_softmax, tmp_path, head))
        for head in (SOFTMAX, "F.softmax(\n            F.softmax(x))")
    ]
    assert [(one.locations[:2], one.finding.title) for one in told if one is not None] == [
        (
            ("train.py:3", "train.py:6"),
            "kl_div takes log-probabilities and is given what a softmax made, in 2 looks at its graph",
        ),
        (
            ("train.py:6", "train.py:3"),
            "kl_div takes log-probabilities and is given what a softmax made, in 2 looks at its graph",
        ),
    ]
    raw = loss_of_probabilities.match(a_run(replace(of_softmax, given="LayerBackward"), tmp_path))
    assert raw is not None
    assert raw.finding.title.startswith("kl_div takes log-probabilities and is given what a layer made")
