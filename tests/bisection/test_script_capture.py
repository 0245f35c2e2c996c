"""Scripts of many kinds, run until they train a model: what is captured of it, and what is said where it cannot be."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from warm_python import module_program, start

from diagnostics.bisection.case import Configuration, Source
from diagnostics.bisection.targets.script_capture import CHECK, CapturedScript, capture_script
from diagnostics.bisection.tries.failures import trial_of
from diagnostics.bisection.tries.one_run import RunEnvironment, RunRequest, run_once
from diagnostics.core.errors import UsageError
from diagnostics.machine.execution.child_process import GroupChild
from diagnostics.machine.execution.ranks import TorchRanks
from diagnostics.machine.facts import ChildResult


class WarmChild(GroupChild):
    """Runs scripts, and what looks at their captures, by forks of Pythons that have imported torch.

    A script is started as `python -m train`; `GroupChild` runs what a launcher starts.
    """

    def run(
        self,
        argv: Sequence[str],
        *,
        deadline_s: float,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> ChildResult:
        environ = {key: value for key, value in {**os.environ, **(env or {})}.items() if value is not None}
        folder = cwd or Path.cwd()
        if argv[1] == "train.py":
            ended = module_program("train", *argv[2:], env=environ, cwd=folder, deadline_s=deadline_s)
        elif argv[1] == str(CHECK):
            ended = start(*argv[1:], env=environ, cwd=folder).end(deadline_s)
        else:
            return super().run(argv, deadline_s=deadline_s, env=env, cwd=cwd)
        code = ended.returncode
        return ChildResult(
            argv=tuple(argv), returncode=code, signal=-code if code < 0 else None, stdout=ended.stdout,
            stderr=ended.stderr, seconds=0.0,
        )  # fmt: skip


COLD, WARM = GroupChild(), WarmChild()
HINT = "name a factory instead: ups-doctor bisect-model module:factory --inputs module:make_batch"
KEY = "hf_" + "abcdefghijklmnopqrstuvwxyz"

NET = """
import argparse, atexit, ctypes, os, sys, threading
import torch
import torch.distributed as dist
from torch import nn

class Net(nn.Module):
    def __init__(self, config, act=torch.tanh, fault=""):
        super().__init__()
        self.a, self.b, self.act = nn.Linear(4, config.width), nn.Linear(config.width, 2), act
        if fault == "signal":
            ctypes.string_at(0)

    def forward(self, batch, **more):
        return self.b(self.act(self.a(batch["x"])))

def train(model, steps=5, optimizer=None, **more):
    # By hand where no optimizer is given: the first one that is made imports for two seconds.
    atexit.register(lambda: open("left", "w").close())
    for _ in range(steps):
        model({"x": torch.randn(3, 4)}, **more).mean().backward()
        if optimizer is not None:
            optimizer.step()
            continue
        with torch.no_grad():
            for one in model.parameters():
                if one.requires_grad:
                    one -= 0.1 * one.grad
    open("trained", "w").close()
"""


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return tmp_path


def capture(
    job: Path,
    text: str,
    *arguments: str,
    launcher: tuple[str, ...] = (),
    inputs: str = "",
    child: GroupChild = WARM,
) -> CapturedScript:
    """Runs the script, which begins with NET, and returns what was captured."""
    (job / "train.py").write_text(NET + textwrap.dedent(text))
    command = [*launcher, "train.py", *arguments]
    return capture_script(command, job / "captured", python=sys.executable, child=child, deadline_s=120, inputs=inputs)


def refused(job: Path, text: str) -> tuple[str, str | None]:
    with pytest.raises(UsageError) as caught:
        capture(job, text)
    return str(caught.value), caught.value.hint


def expected(job: Path, **changes: Any) -> CapturedScript:
    captured = {
        "source": Source(capture=str(job / "captured")),
        "name": "Net",
        "place": f"{job}/train.py:8",
        "reached": "call",
    }
    return CapturedScript(**{**captured, **changes})


def facts(job: Path) -> dict[str, Any]:
    return dict(json.loads((job / "captured" / "capture.json").read_text()))


def test_a_plain_script_with_arguments_is_captured_and_ended_before_it_trains(job: Path) -> None:
    text = """
        parser = argparse.ArgumentParser()
        parser.add_argument("--width", type=int)
        parser.add_argument("--token")
        args = parser.parse_args()
        net = Net(args)
        train(net, optimizer=torch.optim.SGD(net.parameters(), lr=0.1))
    """
    assert capture(job, text, "--width", "6", "--token", KEY, child=COLD) == expected(job)
    assert sorted(path.name for path in job.iterdir()) == ["captured", "train.py"]  # neither trained nor left
    assert facts(job)["build"] == "constructor"
    assert facts(job)["argv"] == ["train.py", "--width", "6", "--token", "[redacted]"]
    assert [path.name for path in (job / "captured").iterdir() if KEY.encode() in path.read_bytes()] == []


def test_the_module_handed_to_ddp_is_captured_with_the_settings_of_the_script(job: Path) -> None:
    text = """
        dist.init_process_group("gloo")
        with torch.autocast("cpu", dtype=torch.bfloat16):
            net = nn.parallel.DistributedDataParallel(Net(argparse.Namespace(width=8)), find_unused_parameters=True)
            train(net)
    """
    settings = {"wrapper": "ddp", "amp": "bfloat16", "options": (("find_unused_parameters", True),)}
    assert capture(job, text) == expected(job, settings=settings)


def test_a_model_whose_constructor_dies_is_captured_without_a_batch(job: Path) -> None:
    text = 'loss = nn.MSELoss()\nmodel = nn.Linear(3, 3)\nNet(argparse.Namespace(width=8), fault="signal")\n'
    assert capture(job, text) == expected(job, reached="construct", settings={"steps": 0})


def test_a_model_changed_after_its_construction_is_taken_as_it_was(job: Path) -> None:
    text = """
        net = Net(argparse.Namespace(width=8))
        net.b = nn.Linear(8, 5)
        net.a.requires_grad_(False)
        train(net)
    """
    note = (
        "the script changed Net after its construction (a.weight, a.bias, b.weight, ...),"
        " so it is taken as it was when it was first used"
    )
    assert capture(job, text) == expected(job, notes=(note,))


def test_what_cannot_be_pickled_is_one_sentence_with_what_to_give_instead(job: Path) -> None:
    line = len(NET.splitlines()) + 1
    text = "train(Net(argparse.Namespace(width=8), act=lambda x: x * 2))\n"
    assert refused(job, text) == (
        "Net cannot be made again outside its script: "
        f"argument `act` of Net is a lambda (train.py:{line}), which cannot be pickled",
        HINT,
    )


@pytest.mark.slow
def test_a_batch_that_cannot_be_pickled_is_named_by_its_part(job: Path) -> None:
    text = 'train(Net(argparse.Namespace(width=8)), info={"lock": threading.Lock()})\n'
    assert refused(job, text) == (
        "the batch that train.py gives Net: argument `info`['lock'] is a _thread.lock: "
        "cannot pickle '_thread.lock' object, which cannot be pickled",
        "give another one, before --script: --inputs module:make_batch",
    )


@pytest.mark.slow
def test_a_batch_that_cannot_be_pickled_is_no_matter_where_another_one_is_given(job: Path) -> None:
    text = 'train(Net(argparse.Namespace(width=8)), info={"lock": threading.Lock()})\n'
    (job / "data.py").write_text("import torch\ndef batch():\n    return {'batch': {'x': torch.ones(3, 4)}}\n")
    captured = capture(job, text, inputs="data.py:batch")
    assert captured == expected(job, source=Source(capture=str(job / "captured"), inputs="data.py:batch"))
    around = RunEnvironment(python=sys.executable, environ=os.environ, env={})
    with closing(TorchRanks(sys.executable)) as ranks:
        runs, seconds = run_once(Configuration(source=captured.source), RunRequest(deadline_s=60), ranks, around)
    tried = trial_of(Configuration(source=captured.source), runs, seconds)
    assert (tried.passed, tried.refusal) == (True, "")


@pytest.mark.slow
def test_a_script_that_ends_before_it_has_a_batch_is_told_with_its_own_last_line(job: Path) -> None:
    text = "net = Net(argparse.Namespace(width=8))\nopen('/no/such/data.csv')\n"
    assert refused(job, text) == (
        "train.py ended with exit code 1 before a model was given a batch: "
        "FileNotFoundError: [Errno 2] No such file or directory: '/no/such/data.csv'",
        f"run it under watch: ups-doctor run -- python train.py\n{HINT}",
    )


@pytest.mark.slow
def test_a_method_that_stands_for_forward_is_captured_with_what_it_was_given(job: Path) -> None:
    text = """
        class Lit(Net):
            def training_step(self, batch, index):
                return self._loss(batch)

            def _loss(self, batch):
                return self.b(self.a(batch["x"])).mean()

        net = Lit(argparse.Namespace(width=8))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        net.training_step({"x": torch.randn(3, 4)}, 0).backward()
    """
    assert capture(job, text) == expected(job, name="Lit")
    assert facts(job)["method"] == "training_step"


@pytest.mark.slow
@pytest.mark.parametrize("launcher", [(), ("torchrun", "--nproc-per-node", "2")])
def test_fsdp2_is_captured_as_it_was_before_with_and_without_a_launcher(job: Path, launcher: tuple[str, ...]) -> None:
    text = """
        from torch.distributed.fsdp import fully_shard
        dist.init_process_group("gloo")
        net = Net(argparse.Namespace(width=8))
        for one in (net.a, net.b):
            fully_shard(one)
        fully_shard(net)
        train(net)
    """
    world = {"world": 2} if launcher else {}
    bin_folder = str(Path(sys.executable).parent)
    words = tuple(f"{bin_folder}/{word}" if word == "torchrun" else word for word in launcher)
    assert capture(job, text, launcher=words) == expected(job, settings={"wrapper": "fsdp2", **world})
    assert facts(job)["build"] == "constructor"


TWICE = """
    net = Net(argparse.Namespace(width=8))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    {between}
    try:
        one = net({{"x": torch.randn(3, 4)}})
        two = net({{"x": torch.randn(5, 4)}})
        {after}
        (one.mean() + two.mean()).backward()
    except Exception:
        open("left", "w").close()
    open("trained", "w").close()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("between", "after", "parts"),
    [
        ("", "", ["batch", "batch-2", "instance", "model"]),
        ("", "raise ValueError('a loss that fails')", ["batch", "batch-2", "instance", "model"]),
        ("", "torch.save(net, 'left')", ["batch", "batch-2", "instance", "model"]),
        ("", "[net({'x': torch.randn(2, 4)}) for _ in range(99)]", [
            "batch", *(f"batch-{number}" for number in range(2, 9)), "instance", "model",
        ]),
        ("net.b.register_forward_hook(lambda *_: ctypes.string_at(0))", "", ["batch", "model"]),
        ("net.b.register_forward_hook(lambda *_: 1 / 0)", "", ["batch", "model"]),
    ],
    ids=["two views", "the loss raises", "saves", "many", "dies in forward", "raises in forward"],
)  # fmt: skip
def test_all_calls_of_the_first_step_are_captured_and_nothing_that_follows_is_run(
    job: Path, between: str, after: str, parts: list[str]
) -> None:
    """A handler that writes a file must not see what a run for a capture comes to."""
    capture(job, textwrap.dedent(TWICE.format(between=between, after=after)))
    assert facts(job)["parts"] == parts
    assert sorted(path.name for path in job.iterdir() if path.is_file()) == ["train.py"]


@pytest.mark.slow
def test_a_step_of_several_calls_is_taken_with_all_of_them(job: Path) -> None:
    """A buffer that the second call changes in place, before the first one's gradient needs it."""
    (job / "scaled.py").write_text(
        "import torch\n"
        "class Scaled(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.inner = torch.nn.Linear(4, 4)\n"
        "        self.register_buffer('scale', torch.ones(4))\n"
        "    def forward(self, x):\n"
        "        y = self.inner(x)\n"
        "        self.scale.mul_(0.9)\n"
        "        return y * y.detach() * self.scale\n"
    )
    text = """
        from scaled import Scaled
        net = Scaled()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        (net(torch.randn(3, 4)).mean() + net(torch.randn(3, 4)).mean()).backward()
    """
    captured = capture(job, text)
    around = RunEnvironment(python=sys.executable, environ=os.environ, env={"PYTHONPATH": str(job)})
    with closing(TorchRanks(sys.executable)) as ranks:
        runs, seconds = run_once(Configuration(source=captured.source), RunRequest(deadline_s=60), ranks, around)
    failure = trial_of(Configuration(source=captured.source), runs, seconds).failure
    assert failure is not None
    assert (failure.detail, failure.phase) == ("RuntimeError", "backward")
