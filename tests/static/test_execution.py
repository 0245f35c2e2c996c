"""Programs run on values that are not known: whose method is called, in what loops and tests, in which order."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.traces import executions
from diagnostics.static.execution.values import Const, Instance, Items, Made, OneOf, Value, options, usual
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


def test_a_flag_that_a_loop_sets_is_not_surely_what_it_was_before(run: Run) -> None:
    text = (
        "class Sums:\n    def __init__(self):\n        self.work = None\n    def push(self, x):\n"
        "        if self.work is not None:\n            self.work.wait()\n        self.work = x.begin()\n"
        "sums, last = Sums(), None\nfor x in torch.load('f'):\n    sums.push(x)\n"
        "    if last:\n        last.end()\n    last = x.again()\n"
    )
    found = run(text)
    assert [one.name for one in found.events[2:]] == [".wait", ".begin", ".end", ".again"]
    assert [told(options(only(found, name).owner)[0]) for name in (".wait", ".end")] == [".begin", ".again"]


def test_a_list_that_grows_in_a_loop_has_no_known_length(run: Run) -> None:
    text = "kept = []\nfor x in torch.load('f'):\n    if kept:\n        kept.pop().wait()\n    kept.append(x)\n"
    found = run(text + "    if len(kept) > 4:\n        torch.ones(1)\n")
    assert only(found, "torch.ones").guards


def test_a_test_that_stands_around_decides_the_same_test_inside(run: Run) -> None:
    text = "print()\ndef save():\n    torch.ones(1) if dist.get_rank() == 0 else torch.zeros(1)\n"
    found = run(text + "if dist.get_rank() == 0:\n    save()\n    if dist.get_rank() != 0:\n        torch.cos(1)\n")
    assert [one for one in names(found) if one.startswith("torch.") and "rank" not in one] == ["torch.ones"]


def test_cases_of_a_match_are_ways_of_their_own(run: Run) -> None:
    text = "print()\nmatch torch.load('f'):\n    case 'a':\n        torch.ones(1)\n"
    text += "    case {'x': x}:\n        torch.zeros(x)\n"
    found = run(text + "match 'b':\n    case 'a':\n        torch.cos(1)\n    case 'b' | 'c':\n        torch.sin(1)\n")
    assert names(found) == ["print", "torch.load", "torch.ones", "torch.zeros", "torch.sin"]


def test_forward_of_a_wrapped_model_runs_where_the_wrapper_is_called(run: Run) -> None:
    text = (
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        torch.cos(x)\n        return x\n"
        "net = torch.nn.parallel.DistributedDataParallel(Net())\nnet(3)\nnet(4)\n"
    )
    assert [told(one.args[0]) for one in run(text).named("torch.cos")] == [3]


def test_what_a_loader_reads_runs_in_its_worker(run: Run) -> None:
    text = (
        "class Own(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n        return torch.ones(i)\n"
        "for x in DataLoader(Own(), num_workers=2):\n    torch.cos(x)\n"
    )
    found = run(text)
    assert [told(one) for one in only(found, "torch.ones").contexts] == ["data worker"]
    assert only(found, "torch.cos").contexts == ()


def test_options_have_their_defaults_and_are_no_constants(run: Run) -> None:
    text = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--deep-net', type=int, default=4)\n"
    found = run(text + "a = p.parse_args()\nif a.deep_net:\n    torch.ones(a.deep_net)\nelse:\n    torch.cos(1)\n")
    assert told(usual(only(found, "torch.ones").args[0])) == 4
    assert only(found, "torch.cos").guards


def test_properties_registries_and_name_spaces_are_followed(run: Run) -> None:
    text = (
        "from types import SimpleNamespace\nKINDS = {}\n"
        "def register(name):\n    def inner(kind):\n        KINDS[name] = kind\n        return kind\n    return inner\n"
        "@register('a')\nclass A:\n    @property\n    def rate(self):\n        return self._rate\n"
        "    @rate.setter\n    def rate(self, value):\n        self._rate = value\n"
        "config = SimpleNamespace(kind='a', rate=3)\none = KINDS[config.kind]()\none.rate = config.rate\n"
        "torch.ones(one.rate)\n"
    )
    assert told(only(run(text), "torch.ones").args[0]) == 3


def test_threads_processes_and_hooks_run_what_they_are_given(run: Run) -> None:
    text = (
        "import threading\ndef work(x):\n    torch.ones(x)\n"
        "threading.Thread(target=work, args=(3,)).start()\n"
        "torch.load('f').register_hook(lambda grad: torch.cos(grad))\n"
    )
    assert [one.name for one in run(text).events if one.contexts] == ["torch.ones", "torch.cos"]


def test_a_method_sees_the_names_around_its_class_and_not_those_of_its_class(run: Run) -> None:
    text = "class Cache:\n    def open(self):\n        return open('a.json', 'w')\nCache().open()\n"
    assert names(run(text)) == ["open"]


def test_what_a_dict_comprehension_holds_is_known_by_its_keys(run: Run) -> None:
    text = "table = {name: DataLoader([1]) for name in ('a', 'b')}\nfor name, one in table.items():\n    one.go(name)\n"
    assert [told(one.args[0]) for one in run(text).named(".go")] == ["a", "b"]


def test_an_operator_of_a_class_of_the_project_is_called(run: Run) -> None:
    text = "class Meter:\n    def __iadd__(self, one):\n        one.seen()\n        return self\n"
    found = run(text + "meter = Meter()\nfor one in DataLoader([1]):\n    meter += one\n")
    assert told(only(found, ".seen").owner) == "item"


def test_a_filter_that_nothing_decides_may_let_nothing_through(run: Run) -> None:
    text = "failed = [one for one in DataLoader([1]) if one]\nif failed:\n    raise ValueError\ndist.barrier()\n"
    assert "torch.distributed.barrier" in names(run(text))


def test_what_next_gets_of_a_generator_is_what_it_yields_and_it_is_run_once(run: Run) -> None:
    text = (
        "def endless(loader, sampler):\n    epoch = 0\n    while True:\n        sampler.set_epoch(epoch)\n"
        "        yield from loader\n        epoch += 1\n"
        "batches = endless(DataLoader([1]), torch.ones(2))\n"
        "for step in range(50):\n    print(next(batches))\n    print(next(batches))\n"
    )
    found = run(text)
    first, second = (one.args[0] for one in found.named("print"))
    assert first is second
    assert isinstance(first, Made)
    assert (first.name, told(first.owner)) == ("item", "torch.utils.data.DataLoader")
    assert len(list(found.named(".set_epoch"))) == 1


def test_what_the_forward_of_a_model_gives_is_known_beside_what_its_call_gives(run: Run) -> None:
    text = (
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        return torch.randn_like(x)\n"
        "loss = torch.nn.parallel.DistributedDataParallel(Net())(torch.ones(3))\nloss.backward()\n"
    )
    found = run(text)
    loss = only(found, ".backward").owner
    assert told(loss) == "()"
    assert told(found.forwards[id(loss)][1]) == "torch.randn_like"
