"""Programs run on values that are not known: whose method is called, in what loops and tests, in which order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.traces import executions
from diagnostics.static.execution.values import Const, Instance, Items, Made, OneOf, Value
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

Run = Callable[..., Execution]
HEAD = "import torch, torch.distributed as dist\nfrom torch.utils.data import DataLoader\n"


@pytest.fixture
def run() -> Run:
    def of(text: str, **others: str) -> Execution:
        files = {"main": HEAD + text, **others}
        project = Project(ProjectFile(f"{name}.py", code.encode(), FileKind.PYTHON) for name, code in files.items())
        (found,) = executions(project)
        return found

    return of


def names(found: Execution) -> list[str]:
    return [one.name for one in found.events]


def told(value: Value | None) -> object:
    """Returns a value as a test can compare it."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, Instance):
        return value.kind.kind.name
    if isinstance(value, Items):
        return [told(one) for one in value.items]
    if isinstance(value, OneOf):
        return {str(told(one)) for one in value.options}
    return value.name if isinstance(value, Made) else value


def only(found: Execution, name: str) -> Event:
    (event,) = found.named(name)
    return event


def test_a_method_of_an_object_in_another_file_is_called_on_what_it_was_given(run: Run) -> None:
    found = run(
        "from job import Job\nJob(DataLoader([1])).go()\n",
        job="class Job:\n    def __init__(self, data):\n        self.data = data\n"
        "    def go(self):\n        for one in self.data:\n            one.cut(3)\n",
    )
    cut = only(found, ".cut")
    assert (told(cut.owner), [told(one) for one in cut.args], len(cut.loops)) == ("item", [3], 1)
    assert isinstance(cut.owner, Made)
    assert told(cut.owner.owner) == "torch.utils.data.DataLoader"


def test_both_ways_of_an_unknown_test_begin_alike_and_are_joined_behind_it(run: Run) -> None:
    found = run("n = 1\nif dist.get_rank() == 0:\n    n = 2\nelse:\n    n += 4\nprint(n)\n")
    assert told(only(found, "print").args[0]) == {"2", "+"}


def test_what_is_known_is_decided_and_the_other_way_does_not_happen(run: Run) -> None:
    text = "class A:\n    deep = False\n    def go(self):\n        dist.barrier() if self.deep else torch.ones(1)\n"
    found = run(text + "A().go()\n")
    assert names(found) == ["torch.ones"]


def test_behind_a_way_that_leaves_only_the_other_one_goes_on(run: Run) -> None:
    found = run("def go(x):\n    if dist.get_rank():\n        return\n    dist.barrier()\ngo(1)\ntorch.ones(1)\n")
    assert [
        (one.name, [guard.taken for guard in one.guards])
        for one in found.events
        if one.name != "torch.distributed.get_rank"
    ] == [
        ("torch.distributed.barrier", [False]),
        ("torch.ones", []),
    ]


def test_callbacks_partials_decorators_and_generators_are_entered(run: Run) -> None:
    found = run(
        "import functools, contextlib\n"
        "def logged(f):\n    @functools.wraps(f)\n    def inner(*args):\n        torch.cos(args[0])\n"
        "        return f(*args)\n"
        "    return inner\n"
        "@logged\ndef step(x):\n    torch.sin(x)\n"
        "def numbers():\n    torch.zeros(1)\n    yield 7\n    torch.ones(1)\n"
        "@contextlib.contextmanager\ndef quiet(model):\n    with model.no_sync():\n        yield model\n"
        "hooks = [functools.partial(step, 5)]\nhooks.append(step)\n"
        "hooks[0]()\n"
        "for n in numbers():\n    hooks[1](n)\n"
        "with quiet(torch.nn.parallel.DistributedDataParallel(1)) as m:\n    m(2)\n"
    )
    assert names(found) == [
        "functools.wraps", "torch.cos", "torch.sin", "torch.zeros", "torch.cos", "torch.sin", "torch.ones",
        "torch.nn.parallel.DistributedDataParallel", ".no_sync", "()",
    ]  # fmt: skip
    assert [told(one.args[0]) for one in found.named("torch.sin")] == [5, 7]
    assert [told(one) for one in only(found, "()").contexts] == [".no_sync"]


def test_a_number_that_is_counted_up_is_not_taken_for_its_first_value(run: Run) -> None:
    text = "class A:\n    n = 0\n    def go(self):\n        self.n += 1\n        if self.n % 4 == 0:\n            "
    found = run(text + "dist.barrier()\nA().go()\n")
    assert [guard.taken for guard in only(found, "torch.distributed.barrier").guards] == [True]


def test_a_handler_is_a_way_of_its_own_and_says_so(run: Run) -> None:
    text = "for i in range(9):\n    try:\n        dist.barrier()\n    except RuntimeError:\n        torch.ones(1)\n"
    found = run(text + "        continue\n")
    assert [
        (one.name, one.is_handled, len(one.tries)) for one in found.events if one.name not in ("range", "iterate")
    ] == [
        ("torch.distributed.barrier", False, 1),
        ("torch.ones", True, 0),
        ("continue", True, 0),
    ]


def test_a_program_without_an_end_is_given_up(run: Run) -> None:
    several = "".join(f"def f{n}(x):\n    f{n + 1}(x)\n    f{n + 1}(x)\n    f{n + 1}(x)\n" for n in range(11))
    assert not run(several + "def f11(x):\n    torch.ones(x)\nf0(1)\n").whole


def test_a_function_that_calls_itself_ends(run: Run) -> None:
    assert run("def go(x):\n    torch.ones(x)\n    return go(x)\ngo(1)\n").whole
