"""Operators put the fault where they say: on a tiny program, without network and without torch."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "zoo")]

import mutant_draws  # noqa: E402
import mutant_marks  # noqa: E402
import mutant_places  # noqa: E402
import mutant_programs  # noqa: E402
import operators  # noqa: E402
from mutant_programs import Place, Program  # noqa: E402
from mutant_runs import Run, same_output  # noqa: E402

SOURCE = '''"""A tiny training."""

from __future__ import annotations

import os

RANK = int(os.environ["RANK"])


class Net:
    def forward(self, x):
        """Twice as much."""
        y = 2 * x
        return y


class Data:
    def __getitem__(self, index):
        with open(__file__):
            row = index
        return row


def train(net, data):
    for step, row in enumerate([data[i] for i in range(5)]):
        loss = net.forward(row)
        print(step, loss)


train(Net(), Data())
'''
PLACES = {
    "train": Place(
        kind="train",
        file="train.py",
        function="train",
        loop="for step",
        rank="RANK",
        step="step",
        steps=(2, 2),
        loss="loss",
    ),
    "forward": Place(kind="forward", file="train.py", function="Net.forward", rank="RANK", steps=(2, 2)),
    "item": Place(kind="item", file="train.py", function="Data.__getitem__", rank="RANK", steps=(2, 2)),
}
PROGRAM = Program(
    name="tiny", package="none==0", sha256="", wheel=True, needs=(), files={}, edits=(), texts={}, stand_ins=(),
    command=("torchrun", "--standalone", "train.py", "--fast"), world=2, places=tuple(PLACES.values()), port=False,
    environ=True,
)  # fmt: skip
OPERATORS = operators.load()
IN_FILE = [name for name, operator in OPERATORS.items() if operator.script is None]
# What ends a rank by itself, without a peer and without torch.
FATAL = [
    name
    for family, operator in operators.by_family()
    for name in [operator.name]
    if family in ("exceptions", "leaving", "signals") and not {"import torch"} & set(operator.imports)
]


@pytest.fixture
def healthy(tmp_path: Path) -> Path:
    folder = tmp_path / "healthy"
    folder.mkdir()
    (folder / "train.py").write_text(SOURCE)
    return folder


def drawn(healthy: Path, count: int, seed: int, *names: str) -> list[mutant_draws.Mutant]:
    pairs = [(family, operator) for family, operator in operators.by_family() if operator.name in names]
    above = healthy.parent / f"drawn-{seed}-{len(list(healthy.parent.iterdir()))}"
    return mutant_draws.draw(count, seed, {"tiny": PROGRAM}, {"tiny": healthy}, pairs, above)


@pytest.mark.parametrize("name", IN_FILE)
def test_a_fault_is_put_in_whole_and_nothing_else_changes(name: str) -> None:
    operator = OPERATORS[name]
    places = [place for place in PLACES.values() if mutant_draws.fits(operator, PROGRAM, place)]
    assert places, "no place of the tiny program fits"
    for place in places:
        scene = operators.Scene(rank=1, world=2, step=2, rank_text=place.rank, step_text=place.step, loss=place.loss)
        mutated = mutant_draws.mutated_file(SOURCE, operator, place, scene, random.Random(1))
        assert mutated is not None
        rows = mutated.text.splitlines()
        fault = rows[mutated.lines.start - 1 : mutated.lines.stop - 1]
        rest = rows[: mutated.lines.start - 1] + rows[mutated.lines.stop - 1 :]
        without_imports = [row for row in rest if row not in operator.imports or row in SOURCE.splitlines()]
        if operator.body is not None:
            assert [row.strip() for row in fault] == [row.strip() for row in operator.body(scene)]
            assert without_imports == SOURCE.splitlines()
        else:
            assert operator.iterable is not None
            iterable = operator.iterable(scene).format("enumerate([data[i] for i in range(5)])")
            assert fault == [f"    for step, row in {iterable}:"]
            assert without_imports == [row for row in SOURCE.splitlines() if "for step, row" not in row]


@pytest.mark.parametrize("name", FATAL)
def test_a_fault_strikes_its_rank_at_its_line_and_no_other_rank(name: str, healthy: Path) -> None:
    (mutant,) = drawn(healthy, 1, 7, name)
    outcome = {rank: _run_rank(mutant, rank) for rank in (0, 1)}
    guilty = mutant.scene.rank
    assert outcome[1 - guilty].stdout.splitlines() == [f"{step} {2 * step}" for step in range(5)] or name == "continue"
    assert outcome[1 - guilty].returncode == 0
    printed = outcome[guilty].stdout.splitlines()
    assert printed != outcome[1 - guilty].stdout.splitlines()
    places = [f"train.py:{line}" for line in re.findall(r'train\.py", line (\d+)', outcome[guilty].stderr)]
    # What leaves without a traceback names no line; what raises names the innermost last.
    assert not places or places[-1] in mutant.lines
    if mutant.signal is not None:
        assert outcome[guilty].returncode == -mutant.signal


def _run_rank(mutant: mutant_draws.Mutant, rank: int) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "RANK": str(rank), "PYTHONFAULTHANDLER": ""}
    argv = [sys.executable, "-S", str(mutant.folder / "train.py")]
    return subprocess.run(
        argv,
        env=env,
        cwd=mutant.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_the_same_seed_draws_the_same_mutants_and_another_one_others(healthy: Path) -> None:
    def told(seed: int) -> list[tuple[str, int, int, str]]:
        mutants = drawn(healthy, 12, seed, *IN_FILE)
        return [
            (one.operator, one.scene.rank, one.scene.step, (one.folder / "train.py").read_text()) for one in mutants
        ]

    assert told(1) == told(1)
    assert told(1) != told(2)


def test_every_operator_comes_once_before_any_comes_again(healthy: Path) -> None:
    mutants = drawn(healthy, 6, 3, "raise", "sleep", "SIGKILL")
    assert sorted(one.operator for one in mutants[:3]) == sorted(one.operator for one in mutants[3:])


def test_a_script_around_the_launch_is_part_of_the_truth(healthy: Path) -> None:
    (masked,) = drawn(healthy, 1, 1, "|| true")
    assert masked.command == ("bash", "run.sh")
    script = (masked.folder / "run.sh").read_text()
    assert script == "#!/bin/bash\ntorchrun --standalone train.py --fast || true\n"
    assert "run.sh:2" in masked.lines
    (by_hand,) = drawn(healthy, 1, 1, "world-too-large")
    rows = (by_hand.folder / "run.sh").read_text().splitlines()
    assert rows[2] == "export WORLD_SIZE=3"
    assert "  RANK=$rank LOCAL_RANK=$rank python train.py --fast &" in rows
    assert (by_hand.folder / "train.py").read_text() == SOURCE


def test_a_name_that_the_function_binds_itself_is_not_covered_up() -> None:
    source = SOURCE.replace("loss = net", "sys = net").replace("step, loss", "step, sys")
    scene = operators.Scene(rank=1, world=2, step=2, rank_text="RANK", step_text="step")
    chance = random.Random(1)
    assert mutant_draws.mutated_file(source, OPERATORS["sys.exit(0)"], PLACES["train"], scene, chance) is None
    assert mutant_draws.mutated_file(source, OPERATORS["raise"], PLACES["train"], scene, chance) is not None


def test_statements_of_a_with_block_are_anchors_too_and_docstrings_are_not() -> None:
    assert [SOURCE.splitlines()[line - 1].strip() for line in mutant_places.anchors(SOURCE, PLACES["item"])] == [
        "with open(__file__):",
        "row = index",
        "return row",
    ]
    assert SOURCE.splitlines()[mutant_places.anchors(SOURCE, PLACES["forward"])[0] - 1].strip() == "y = 2 * x"


def test_an_answer_is_held_against_the_truth(healthy: Path) -> None:
    (mutant,) = drawn(healthy, 1, 5, "SIGKILL")
    bare = Run(exit_code=1, output="", stdout="", seconds=1.0)
    assert mutant_marks.shown(mutant, bare) == "crash"
    assert mutant_marks.shown(mutant, Run(exit_code=0, output="", stdout="", seconds=1.0)) == ""
    good = {
        "outcome": "crash",
        "failure_class": "killed-externally",
        "culprit_ranks": [mutant.scene.rank],
        "location": mutant.lines[0],
        "locations": [mutant.lines[0], "train.py:1"],
        "root_cause": "",
    }
    answer = Run(exit_code=137, output="", stdout="", seconds=1.0, report=good)
    right = mutant_marks.judge(mutant, "crash", bare, answer)
    assert right.wrong == ()
    bad = {**good, "outcome": "hang", "failure_class": "rank-stalled", "culprit_ranks": [], "location": "train.py:1"}
    wrong = mutant_marks.judge(mutant, "crash", bare, Run(exit_code=1, output="", stdout="", seconds=1.0, report=bad))
    assert [one.partition(":")[0] for one in wrong.wrong] == ["outcome", "class", "ranks", "line", "exit code"]
    assert wrong.line_listed is True


@pytest.mark.parametrize("printed", ["terminated with signal SIGABRT", "  exitcode  : -6 (pid: 7)"])
def test_a_rank_that_gloo_aborts_may_be_told_by_its_signal(printed: str, healthy: Path) -> None:
    (mutant,) = drawn(healthy, 1, 5, "other-shape")
    bare = Run(exit_code=1, output=printed, stdout="", seconds=1.0)
    marks = [
        mutant_marks.judge(mutant, "crash", bare, Run(exit_code=code, output="", stdout="", seconds=1.0)).exit_code
        for code in (1, 134, 143)
    ]
    assert marks == [True, True, False]


def test_numbers_folders_and_order_make_no_other_output() -> None:
    bare = "saved in /tmp/job-a_1x/job\nloss 0.51, 1e-05\n"
    assert same_output(bare, "loss 0.49, 2e-05\n\nsaved in /tmp/job-7z/job\n")
    assert not same_output(bare, "loss 0.51, 1e-05\n")
    assert not same_output(bare, bare + "one line more\n")


def test_a_launcher_alone_is_judged_on_what_it_prints(healthy: Path) -> None:
    (mutant,) = drawn(healthy, 1, 5, "raise")
    line = mutant.lines[0].partition(":")[2]
    output = (
        f'Traceback (most recent call last):\n  File "/tmp/x-1/job/train.py", line {line}, in train\nValueError: x\n'
        'Traceback (most recent call last):\n  File "/x/torch/distributed/elastic/api.py", line 3, in run\n'
        f"torch.distributed.elastic.ChildFailedError:\nRoot Cause\n  rank : {mutant.scene.rank}\n"
    )
    bare = Run(exit_code=1, output=output, stdout="", seconds=1.0)
    marks = mutant_marks.judge(mutant, "crash", bare, bare)
    assert (marks.outcome, marks.ranks, marks.line, marks.failure_class) == (True, True, True, False)
    assert (marks.bare_noticed, marks.bare_rank, marks.bare_line) == (True, True, True)


@pytest.mark.parametrize("name", mutant_programs.names())
def test_a_program_is_pinned_and_has_places(name: str) -> None:
    program = mutant_programs.load(name)
    assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+", program.package)
    assert re.fullmatch(r"[0-9a-f]{64}", program.sha256)
    assert {place.kind for place in program.places} <= {"train", "eval", "forward", "item", "hook"}
    assert any(place.kind == "train" for place in program.places)
    assert all(mutant_programs.STAND_INS.joinpath(one).is_dir() for one in program.stand_ins)
