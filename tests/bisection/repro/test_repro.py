from __future__ import annotations

import itertools
import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from warm_child import ForkedScripts

from diagnostics.bisection.case import Configuration, Edits, RunSettings, Source
from diagnostics.bisection.repro.check import Run, fails_alike
from diagnostics.bisection.repro.harness import main_lines
from diagnostics.bisection.repro.plan import ScriptPlan
from diagnostics.bisection.repro.repro import Repro, ScriptRequest, find_repro
from diagnostics.bisection.repro.text import folded
from diagnostics.bisection.repro.user_sources import user_sources
from diagnostics.bisection.trial import Failure, FailureKind, ModuleNode
from diagnostics.machine.execution.child_process import GroupChild
from diagnostics.machine.facts import ChildResult
from diagnostics.static.slicing.source_closure import Own

MODELS = Path(__file__).parents[1] / "models"
SEGFAULT = Failure(kind=FailureKind.SIGNAL, detail="SIGSEGV", places=("shown/parts.py:28 forward",), phase="forward")
NODES = (
    ModuleNode(path="", class_name="Net", built_as="shown.model.Net#0", parameters=60),
    ModuleNode(path="before", class_name="Linear", built_as="torch.nn.modules.linear.Linear#0", parameters=20),
    ModuleNode(path="part", class_name="Part", built_as="shown.parts.Part#0", parameters=40),
)


class Silent:
    """A progress that nobody looks at."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def trying(self, what: str, *, number: int, most: int | None, left_s: float | None) -> None: ...

    def tried(self, what: str, trial: object) -> None: ...

    def say(self, line: str) -> None: ...

    def doing(self, what: str) -> None:
        self.done.append(what.removeprefix("trying a script: "))


@dataclass
class ScriptedChild:
    """Answers each script by what is in it; `fails` are words of a script that dies of a segmentation fault."""

    fails: Sequence[str] = ()
    texts: list[str] = field(default_factory=list)

    def run(
        self,
        argv: Sequence[str],
        *,
        deadline_s: float,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> ChildResult:
        assert cwd is not None
        assert [one.name for one in cwd.iterdir()] == ["repro.py"]
        assert env is not None
        assert env["PYTHONPATH"] is None
        text = (cwd / "repro.py").read_text()
        self.texts.append(text)
        dies = any(word in text for word in self.fails)
        code = -11 if dies else 0
        said = 'Fatal Python error: Segmentation fault\n  File "repro.py", line 3 in forward\n' if dies else ""
        return ChildResult(
            argv=tuple(argv), returncode=code, signal=11 if dies else None, stdout="", stderr=said, seconds=0.1
        )


def tensor(*shape: int, **more: Any) -> dict[str, Any]:
    told = {"kind": "tensor", "shape": list(shape), "dtype": "float32", "grad": True, "nan": False}
    return {**told, "mean": 0.0, "std": 1.0, "low": -3.0, "high": 3.0, **more}


def recording(folder: Path, how: str) -> Path:
    config = {"object": "shown.parts:Config", "attributes": {"dim": 4, "how": how}}
    none: dict[str, Any] = {"kind": "dict", "class": "builtins:dict", "names": [], "items": []}
    lines = [
        {"building": "shown.model.Net#0", "inside": "", "args": [config], "kwargs": {}},
        {"building": "torch.nn.modules.linear.Linear#0", "inside": "shown.model.Net#0", "args": [4, 4], "kwargs": {}},
        {"built": "torch.nn.modules.linear.Linear#0"},
        {"building": "shown.parts.Part#0", "inside": "shown.model.Net#0", "args": [config], "kwargs": {}},
        {"built": "shown.parts.Part#0"},
        {"built": "shown.model.Net#0"},
        {"forward": 1},
        {"enter": "", "number": 1, "args": {"kind": "tuple", "items": [tensor(2, 4, grad=False)]}, "kwargs": none},
        {"enter": "before", "number": 2, "args": {"kind": "tuple", "items": [tensor(2, 4)]}, "kwargs": none},
        {"leave": 2, "output": tensor(2, 4)},
        {"enter": "part", "number": 3, "args": {"kind": "tuple", "items": [tensor(2, 4)]}, "kwargs": none},
    ]
    file = folder / "recorded.json"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"leave": 3, "outp')
    return file


def asked(
    failure: Failure = SEGFAULT, *, modules: Sequence[str] = ("part",), case: Configuration | None = None
) -> ScriptRequest:
    case = case or Configuration(source=Source(factory="shown.model:crash", inputs="shown.model:batch"))
    return ScriptRequest(
        case=case, failure=failure, modules=modules, within=None, model="shown.model:crash", nodes=NODES
    )


def found(wanted: ScriptRequest, file: Path, child: Any, progress: Silent | None = None) -> Repro:
    sources = user_sources(wanted.case.source, wanted.nodes, MODELS, [])
    return find_repro(wanted, [file], sources, sys.executable, child, progress or Silent())


def test_a_script_of_one_module_dies_in_a_clean_process_as_the_model_does(tmp_path: Path) -> None:
    repro = found(asked(), recording(tmp_path, "crash"), GroupChild())
    assert (repro.failed, repro.runs, repro.needs) == (3, 3, ())
    expected = '''
        """Part (part of shown.model:crash) dies of SIGSEGV in its forward.

        Run:       python repro.py    (needs torch only; one process, on the CPU)
        Expected:  exit code 0
        Seen:      dies of SIGSEGV: exit code -11, 3 of 3 times
        """

        import ctypes
        import faulthandler
        from dataclasses import dataclass

        import torch
        from torch import nn

        SCALE = 2.0


        @dataclass
        class Config:
            dim: int = 4
            how: str = ""


        class Part(nn.Module):
            def __init__(self, config, act=nn.GELU):
                super().__init__()
                self.how, self.act = config.how, act()
                self.first, self.second = nn.Linear(config.dim, config.dim), nn.Linear(config.dim, config.dim)

            def forward(self, x, mask=None):
                if self.how == "crash":
                    ctypes.string_at(0)  # as a broken kernel does
                if self.how == "unused":
                    return self.first(x)
                if self.how == "masked":
                    return torch.softmax(x.masked_fill(~mask, float("-inf")), -1)
                return self.second(self.act(self.first(x))) * SCALE


        def main():
            faulthandler.enable()
            torch.manual_seed(0)
            model = Part(Config(dim=4, how='crash'))
            model(torch.randn(2, 4, requires_grad=True) * 1)


        if __name__ == "__main__":
            main()
            print("it came to its end: no failure")
    '''
    assert repro.text == textwrap.dedent(expected).lstrip("\n")


def test_a_model_that_does_not_fail_by_itself_gives_no_script(tmp_path: Path) -> None:
    child = ScriptedChild()
    repro = found(asked(), recording(tmp_path, ""), child)
    assert (repro.text, repro.failed, repro.note) == ("", 0, "no script fails in the same way by itself")
    assert repro.tried == (
        "part alone, with its recorded arguments: it does not fail",
        "part alone, as the factory builds it: it does not fail",
        "the whole model, with its recorded arguments: it does not fail",
        "the whole model, as the factory builds it: it does not fail",
        "part alone, with its recorded arguments, imported from your own code: it does not fail",
        "part alone, as the factory builds it, imported from your own code: it does not fail",
        "the whole model, with its recorded arguments, imported from your own code: it does not fail",
        "the whole model, as the factory builds it, imported from your own code: it does not fail",
    )


def test_the_shortest_script_that_fails_is_taken(tmp_path: Path) -> None:
    progress = Silent()
    repro = found(asked(), recording(tmp_path, ""), ScriptedChild(fails=["get_submodule('part')"]), progress)
    assert progress.done == ["part alone, with its recorded arguments", "part alone, as the factory builds it"]
    assert "    model = crash().get_submodule('part')\n" in repro.text


def test_where_only_two_modules_together_fail_the_others_are_stand_ins(tmp_path: Path) -> None:
    case = Configuration(source=Source(factory="shown.model:crash"), edits=Edits(stand_ins=("before",)))
    wanted = asked(modules=("part", ""), case=case)
    repro = found(wanted, recording(tmp_path, ""), ScriptedChild(fails=["stand_in("]))
    assert "def stand_in(module, make):" in repro.text
    wanted_line = "    stand_in(model.get_submodule('before'), lambda zero, *args: torch.randn(2, 4) + zero)\n"
    assert wanted_line in repro.text
    compile(repro.text, "repro.py", "exec")


def test_a_constructor_that_fails_is_called_alone(tmp_path: Path) -> None:
    failure = replace(SEGFAULT, phase="construct")
    nodes = tuple(replace(node, path="", built=node.path == "before", inside="shown.model.Net#0" if node.path else "")
                  for node in NODES)  # fmt: skip
    wanted = replace(asked(failure, modules=("shown.parts.Part#0",)), nodes=nodes)
    repro = found(wanted, recording(tmp_path, "crash"), ScriptedChild(fails=["Part("]))
    assert repro.text.partition("torch.manual_seed(0)\n")[2].startswith(
        "    model = Part(Config(dim=4, how='crash'))\n\n\n"
    )


@pytest.mark.slow
def test_a_script_with_two_ranks_fails_as_the_wrapped_model_does(tmp_path: Path) -> None:
    case = Configuration(
        source=Source(factory="shown.model:crash"), settings=RunSettings(world=2, wrapper="ddp", steps=2)
    )
    failure = Failure(
        kind=FailureKind.EXCEPTION,
        detail="RuntimeError",
        message="Expected to have finished reduction in the prior iteration before starting a new one. This error "
        "indicates that your module has parameters that were not used in producing loss. You can enable unused "
        "parameter detection by passing the keyword argument `find_unused_parameters=True` to `torch.nn.parall",
        places=("torch/nn/parallel/distributed.py forward",),
        phase="forward",
        step=2,
    )
    repro = found(asked(failure, case=case), recording(tmp_path, "unused"), ForkedScripts())
    assert (repro.failed, repro.runs) == (3, 3)


ALL = {
    "world": (1, 2),
    "wrapper": ("none", "ddp", "fsdp2", "fsdp1", "fabric"),
    "amp": ("", "bfloat16"),
    "accumulate": (1, 2),
    "checkpointing": (False, True),
    "workers": (0, 2),
    "compile": (False, True),
    "steps": (1, 2),
}


@pytest.mark.parametrize("kind", [FailureKind.SIGNAL, FailureKind.HANG, FailureKind.NONFINITE, FailureKind.DISAGREE])
def test_every_combination_of_settings_gives_a_script_that_can_be_parsed(kind: FailureKind) -> None:
    for values in itertools.product(*ALL.values()):
        settings = RunSettings(**dict(zip(ALL, values, strict=True)))
        failure = Failure(kind=kind, detail="gradients" if kind is FailureKind.DISAGREE else "loss", phase="backward")
        plan = ScriptPlan(
            settings=settings, failure=failure, build=("model = Net()",), inputs=("x",), units=("blocks.0",)
        )
        compile("\n".join(main_lines(plan)), "repro.py", "exec")


TRACEBACK = """Traceback (most recent call last):
  File "repro.py", line 9, in forward
    raise ValueError(f"shape {tuple(x.shape)} does not fit")
"""


@pytest.mark.parametrize(
    ("failure", "run", "alike"),
    [
        (SEGFAULT, Run(returncode=-11), True),
        (SEGFAULT, Run(returncode=-11, stderr='  File "repro.py", line 3 in forward\n'), True),
        (SEGFAULT, Run(returncode=-11, stderr='  File "repro.py", line 3 in backward\n'), False),
        (SEGFAULT, Run(returncode=-6), False),
        (SEGFAULT, Run(returncode=0), False),
        (SEGFAULT, Run(returncode=None), False),
        (SEGFAULT, Run(returncode=1, stdout="exit codes of the ranks: [1, -11]\n"), True),
        (
            Failure(kind=FailureKind.EXCEPTION, detail="ValueError", message="shape # does not fit"),
            Run(returncode=1, stderr=f"{TRACEBACK}ValueError: shape (2, 3) does not fit\n"),
            True,
        ),
        (
            Failure(kind=FailureKind.EXCEPTION, detail="ValueError", message="shape # does not fit"),
            Run(returncode=1, stderr=f"{TRACEBACK}[rank0]: ValueError: shape (4, 8) does not fit\n"),
            True,
        ),
        (
            Failure(kind=FailureKind.EXCEPTION, detail="ValueError", message="shape # does not fit"),
            Run(returncode=1, stderr=f"{TRACEBACK}ValueError: out of range\n"),
            False,
        ),
        (
            Failure(kind=FailureKind.HANG, detail="", places=("model.py:3 forward",)),
            Run(returncode=1, stderr='Timeout (0:00:20)!\n  File "repro.py", line 3 in forward\n'),
            True,
        ),
        (Failure(kind=FailureKind.HANG, detail=""), Run(returncode=1, stderr="Killed"), False),
        (Failure(kind=FailureKind.EXIT, detail="exit code 3"), Run(returncode=3), True),
        (Failure(kind=FailureKind.EXIT, detail="exit code 3"), Run(returncode=1), False),
        (
            Failure(kind=FailureKind.NONFINITE, detail="loss"),
            Run(returncode=1, stderr="FloatingPointError: loss is"),
            True,
        ),
        (
            Failure(kind=FailureKind.NONFINITE, detail="loss"),
            Run(returncode=1, stderr="FloatingPointError: gradi"),
            False,
        ),
        (
            Failure(kind=FailureKind.DISAGREE, detail="gradients"),
            Run(returncode=1, stderr="AssertionError: gradients differ between the ranks"),
            True,
        ),
        (Failure(kind=FailureKind.MEMORY, detail=""), Run(returncode=1, stderr="CUDA out of memory."), True),
    ],
)
def test_only_the_same_failure_counts(failure: Failure, run: Run, alike: bool) -> None:
    assert fails_alike(run, failure) is alike


def test_long_lines_are_broken_within_brackets() -> None:
    numbers = ", ".join(map(str, range(100, 140)))
    lines = folded(f"    model(torch.tensor([{numbers}]), mask=None)")
    assert all(len(line) <= 116 for line in lines)
    assert " ".join(line.strip() for line in lines) == f"model(torch.tensor([{numbers}]), mask=None)"
    assert folded("short(1, 2)") == ["short(1, 2)"]


def test_sources_are_found_where_python_finds_them(tmp_path: Path) -> None:
    (tmp_path / "src" / "shop" / "inner").mkdir(parents=True)
    (tmp_path / "src" / "shop" / "__init__.py").write_text("A = 1")
    (tmp_path / "src" / "shop" / "model.py").write_text("B = 2")
    (tmp_path / "src" / "shop" / "inner" / "deep.py").write_text("C = 3")
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "train.py").write_text("D = 4")
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "nn.py").write_text("no = 1")
    node = ModuleNode(path="", class_name="Net", place="src/shop/model.py:3", built_as="shop.model.Net#0")
    sources = user_sources(Source(factory="jobs/train.py:make"), [node], tmp_path, [])
    texts = {name: sources[name].text for name in ("shop", "shop.model", "shop.inner", "shop.inner.deep", "train")}
    assert texts == {"shop": "A = 1", "shop.model": "B = 2", "shop.inner": "", "shop.inner.deep": "C = 3",
                     "train": "D = 4"}  # fmt: skip
    assert not any(name in sources for name in ("torch", "torch.nn", "os", "shop.other", "numpy"))
    assert [sources.own(name) for name in ("shop.model.Net#2", "torch.nn.Linear#0")] == [
        sources.own("shop.model:Net"),
        None,
    ]


def test_the_script_that_a_capture_was_made_of_is_its_main_module(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "train.py").write_text("class Net: pass")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "layers.py").write_text("A = 1")
    facts = {"script": str(tmp_path / "jobs" / "train.py"), "search_path": [str(tmp_path / "lib")]}
    (tmp_path / "capture.json").write_text(json.dumps(facts))
    sources = user_sources(Source(capture=str(tmp_path)), [], Path("/nowhere"), [])
    assert [sources[name].text for name in ("__main__", "layers")] == ["class Net: pass", "A = 1"]
    assert sources.own("__main__.Net#0") == Own("__main__", "Net")
