"""Copies that are evaluated in the model's place, and weights that came apart, are told with the line to change."""

from __future__ import annotations

from pathlib import Path

from hand_made import a_job, a_process, agent, event, frames

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.kept_models import copy_is_stale, copy_lacks_statistics
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.updates import weights_untied
from diagnostics.record.marks.model_marks import CopyIsStale, CopyLacksStatistics, WeightsUntied
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import Mark

TRAIN = """\
class Average:
    def __init__(self, net):
        self.fed = list(net.parameters())
        self.net = copy.deepcopy(net)
    def update(self, net):
        for mine, theirs in zip(self.net.parameters(), net.parameters()):
            mine.lerp_(theirs, 0.1)
def evaluate(net, rows):
    score = net(rows).mean()
def labels(net, rows):
    return net(rows).argmax(1)
def build():
    net = Net()
    net.head.weight = net.tok.weight
    net.to_empty(device="cpu")
    fully_shard(net.tok)
    return net
"""


def matched(signature, folder: Path, *marks: Mark) -> Match | None:
    told = agent(event("optimizer", "", f"{folder}/train.py:13"), steps=40)
    process = a_process(100, rank=0, agent=told, prints=ParameterPrints(marks=marks))
    return signature.match(a_job(process, code=0, cwd=folder, files={"train.py": TRAIN}))


def stale(folder: Path, *, line: int = 9, written: bool = False) -> CopyIsStale:
    path = frames(f"{folder}/train.py:{line}")
    return CopyIsStale(model=7, root="Net", rounds=6, steps=240, written=written, path=path)


def test_a_copy_without_the_training_is_told_where_it_is_made(tmp_path: Path) -> None:
    found = matched(copy_is_stale, tmp_path, stale(tmp_path))
    assert found is not None
    assert (found.failure_class, found.finding.confidence) == ("state-not-kept", Confidence.LIKELY)
    assert found.locations == ("train.py:4", "train.py:9")
    assert found.finding.title == (
        "What is evaluated at train.py:9 is a Net, copied at train.py:4, that still has the weights of before the "
        "training: nothing is copied into it"
    )


def test_an_average_that_is_fed_in_vain_is_told_where_its_source_is_kept(tmp_path: Path) -> None:
    found = matched(copy_is_stale, tmp_path, stale(tmp_path, written=True))
    assert found is not None
    assert found.locations == ("train.py:3", "train.py:4", "train.py:9")
    assert found.finding.title.endswith("it is fed from other parameters than those that learn")


def test_targets_that_a_teacher_computes_in_rounds_are_no_evaluation(tmp_path: Path) -> None:
    assert matched(copy_is_stale, tmp_path, stale(tmp_path, line=11)) is None
    assert matched(copy_is_stale, tmp_path) is None


def test_an_average_without_statistics_is_told_where_it_is_updated(tmp_path: Path) -> None:
    path = frames(f"{tmp_path}/train.py:9")
    mark = CopyLacksStatistics(root="Net", rounds=4, steps=160, parts=3, part="stem.1", batches=160, path=path)
    found = matched(copy_lacks_statistics, tmp_path, mark)
    assert found is not None
    assert (found.failure_class, found.finding.confidence) == ("state-not-kept", Confidence.CONFIRMED)
    assert found.locations == ("train.py:6", "train.py:9")
    assert found.finding.title == (
        "The copy Net that is evaluated at train.py:9 follows the model's weights and not its running statistics: "
        "train.py:6 takes the parameters alone"
    )
    assert matched(copy_lacks_statistics, tmp_path) is None


def test_weights_that_came_apart_are_told_with_what_renewed_them(tmp_path: Path) -> None:
    path = frames(f"{tmp_path}/train.py:14")
    mark = WeightsUntied(step=3, first="tok.weight", second="head.weight", kind="Parameter", path=path)
    found = matched(weights_untied, tmp_path, mark)
    assert found is not None
    assert (found.failure_class, found.finding.confidence) == ("parameter-mismatch", Confidence.CONFIRMED)
    assert found.locations == ("train.py:15", "train.py:14")
    assert found.finding.title == (
        "tok.weight and head.weight were tied at train.py:14 and are trained apart: train.py:15 gave each of them a "
        "tensor of its own"
    )
    assert matched(weights_untied, tmp_path) is None
