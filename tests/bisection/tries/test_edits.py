"""What a try changes in a model leaves a model that wrappers see as the same and that trains."""

from __future__ import annotations

import importlib
import json
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from diagnostics.bisection.case import Configuration, Edits, Source
from diagnostics.bisection.trial import ModuleNode
from diagnostics.bisection.tries.journal_tree import read_tree
from diagnostics.machine.execution.ranks import TorchRanks
from diagnostics.machine.facts import RankResult

MODELS = Path(__file__).parents[1] / "models"
CHILDREN = Path(__file__).parents[3] / "diagnostics" / "children"
PACKAGE = "children_under_test"
KINDS = {
    "Transformer": "tokens",
    "UNet": "images",
    "Experts": "sequences",
    "Outputs": "sequences",
    "Lazy": "sequences",
}


@pytest.fixture(scope="module")
def children() -> Iterator[Callable[[str], Any]]:
    """Imports a part of the children, as a rank does."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(CHILDREN)]
    sys.modules[PACKAGE] = package
    sys.path.insert(0, str(MODELS))
    yield lambda name: importlib.import_module(f"{PACKAGE}.{name}")
    torch.set_num_threads(threads)
    sys.path.remove(str(MODELS))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


class Tried:
    """A model under edits, in this process."""

    def __init__(self, children: Callable[[str], Any], file: Path, factory: str, **edits: object) -> None:
        self._edits, models = children("trial.edits"), importlib.import_module("edited")
        self.loss_of = children("inspection.values").loss_of
        self.request = {"settings": {}, "edits": edits, "structures": str(file), "record": not edits}
        torch.manual_seed(0)
        with self._edits.building(self.request):
            self.model = getattr(models, factory)()
        call = children("inspection.targets").as_call(self.model, getattr(models, KINDS.get(factory, "sequences"))())
        self.model, self.calls = self._edits.apply(self.model, lambda: call, self.request)

    def step(self, number: int = 1) -> Any:
        args, kwargs = self.calls()
        if self.request["record"] and number == 1:
            with self._edits.recording(self.model, self.request):
                output = self.model(*args, **kwargs)
        else:
            output = self.model(*args, **kwargs)
        loss = self.loss_of(output)
        assert loss.isfinite()
        loss.backward()
        return output

    def without_gradient(self) -> list[str]:
        """Two steps; returns the parameters that no gradient came to."""
        self.step()
        self.model.zero_grad(set_to_none=True)
        self.step(2)
        return [name for name, one in self.model.named_parameters() if one.grad is None]


@pytest.fixture
def edited(children: Callable[[str], Any], tmp_path: Path) -> Callable[..., Tried]:
    """Gives a model under edits; without edits its first step is recorded, for those that come after it."""
    return lambda factory, **edits: Tried(children, tmp_path / "journal", factory, **edits)


@pytest.mark.parametrize("kind", KINDS)
def test_each_module_can_be_stood_in_for_and_run_alone(edited: Callable[..., Tried], tmp_path: Path, kind: str) -> None:
    assert edited(kind).without_gradient() == []
    nodes = read_tree(tmp_path / "journal")
    assert "" in {node.path for node in nodes}
    for node in [node for node in nodes if node.path.count(".") < 3]:
        if node.replaceable:
            assert (node.path, edited(kind, stand_ins=(node.path,)).without_gradient()) == (node.path, [])
        if node.calls and node.path:
            assert (node.path, edited(kind, alone=node.path).without_gradient()) == (node.path, [])
            both = edited(kind, alone=node.path, stand_ins=(node.path,))
            assert (node.path, both.without_gradient()) == (node.path, [])


def test_a_stand_in_keeps_what_wrappers_see(edited: Callable[..., Tried]) -> None:
    plain = edited("Experts")
    plain.step()
    seen = [(name, one.shape, one.dtype, one.requires_grad) for name, one in plain.model.named_parameters()]
    stood = edited("Experts", stand_ins=("experts", "router")).model
    assert [(name, one.shape, one.dtype, one.requires_grad) for name, one in stood.named_parameters()] == seen
    assert [type(one) for one in stood.modules()] == [type(one) for one in plain.model.modules()]
    assert list(stood.state_dict()) == list(plain.model.state_dict())


def test_a_stand_in_gives_what_was_recorded(edited: Callable[..., Tried]) -> None:
    plain = edited("Outputs")
    plain.step()
    given = plain.model.masks(x=torch.randn(4, 5, 8), mask=None)
    want = plain.model.finds(given)
    model = edited("Outputs", stand_ins=("finds",)).model
    got = model.finds(given)
    assert type(got) is type(want)
    assert (got.hidden.shape, got.indices.shape, got.indices.dtype) == ((4, 5, 8), (4, 5), torch.int64)
    assert set(got.extra) == {"mean", "none", "number"}
    assert (got.extra["none"], got.extra["number"]) == (None, 3)
    again = model.finds(given)
    assert torch.equal(got.hidden, again.hidden)


def test_each_rank_is_given_what_it_recorded_itself_and_else_what_rank_0_did(
    edited: Callable[..., Tried], monkeypatch: pytest.MonkeyPatch
) -> None:
    def on(rank: int, *, scale: float = 1.0, **edits: object) -> float:
        monkeypatch.setenv("RANK", str(rank))
        one = edited("Scales", **edits)
        one.model.inner.scale = scale
        return float(one.step().detach().mean())

    recorded = [on(0, scale=2.0), on(1, scale=5.0)]
    assert recorded == [2.0, 5.0]
    assert [on(rank, scale=9.0, stand_ins=("inner",)) for rank in (0, 1, 2)] == [2.0, 5.0, 2.0]


def test_a_stand_in_follows_a_smaller_batch(edited: Callable[..., Tried]) -> None:
    edited("UNet").step()
    small = edited("UNet", stand_ins=("downs.0", "middle"), batch=2)
    assert small.step().shape == (2, 16, 16, 16)


def test_what_is_no_number_stays_none_behind_a_stand_in(edited: Callable[..., Tried]) -> None:
    edited("UNet").step()
    model = edited("UNet", stand_ins=("middle",)).model
    broken, masked = torch.randn(2, 16, 4, 4), torch.randn(2, 16, 4, 4)
    broken[0, 0, 0, 0], masked[0, 0, 0, 0] = float("nan"), float("-inf")
    assert model.middle(broken).isnan().all()
    assert model.middle(masked).isfinite().all()


def test_hooks_of_the_users_go_with_the_module(edited: Callable[..., Tried]) -> None:
    with pytest.raises(ValueError, match="a hook of the user's"):
        edited("Hooked").step()
    assert edited("Hooked", stand_ins=("first", "second")).without_gradient() == []


def test_outputs_under_autocast_have_the_dtype_of_the_operations(edited: Callable[..., Tried]) -> None:
    edited("Experts").step()
    stood = edited("Experts", stand_ins=("enter", "router", "experts.0"))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        stood.step()
        assert stood.model.enter(torch.randn(4, 5, 8)).dtype is torch.bfloat16


def test_containers_are_cut(edited: Callable[..., Tried]) -> None:
    edited("Experts").step()
    model = edited("Experts", cuts=(("experts", (0, 2)), ("experts.2", (0, 2)))).model
    assert [name for name, _ in model.experts.named_children()] == ["0", "1"]
    assert [name for name, _ in model.experts[1].named_children()] == ["0", "2"]


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ({"stand_ins": ("no.such",)}, "the model has no module 'no.such'"),
        ({"cuts": (("enter", (0,)),)}, "enter is a Linear: no container that can be cut"),
        ({"cuts": (("experts", (7,)),)}, "experts has 4 modules, none at place 7"),
        ({"alone": "enter"}, "the inputs of enter were not recorded: no forward came so far"),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(
    children: Callable[[str], Any], edited: Callable[..., Tried], edits: dict[str, Any], said: str
) -> None:
    with pytest.raises(children("inspection.refusal").Refusal) as refused:
        edited("Experts", **edits)
    assert str(refused.value) == said


def test_a_batch_of_too_few_items_is_refused(children: Callable[[str], Any], edited: Callable[..., Tried]) -> None:
    with pytest.raises(children("inspection.refusal").Refusal, match="a batch of 4 cannot be cut to 9"):
        edited("Experts", batch=9).calls()


@pytest.fixture(scope="module")
def ranks() -> Iterator[TorchRanks]:
    found = TorchRanks(sys.executable)
    found.warm(for_modules=True)
    yield found
    found.close()


@pytest.fixture
def run(ranks: TorchRanks, tmp_path: Path) -> Callable[..., tuple[RankResult, dict[str, Any]]]:
    """Tries a case in a rank of its own; returns its end and its answer."""
    file = MODELS / "edited.py"

    def rank(factory: str, **edits: Any) -> tuple[RankResult, dict[str, Any]]:
        case = Configuration(
            source=Source(factory=f"{file}:{factory}", inputs=f"{file}:sequences"), edits=Edits(**edits)
        )
        request = {**case.as_json(), "result": str(tmp_path / "answer"), "structures": str(tmp_path / "journal")}
        request["record"] = not edits
        arguments = {"request": {"timeout_s": 60, **request}, "agent": str(CHILDREN.parent / "agent")}
        (result,) = ranks.run_task("trial", 1, backend="gloo", deadline_s=60, arguments=arguments)
        return result, json.loads((tmp_path / "answer").read_text())

    return rank


def test_a_crash_leaves_what_the_modules_before_it_gave(
    run: Callable[..., tuple[RankResult, dict[str, Any]]], tmp_path: Path
) -> None:
    result, answer = run("CrashesInTheMiddle")
    assert (result.signal, answer["phase"]) == (11, "forward")
    nodes = {node.path: (node.entered, node.calls, node.replaceable) for node in read_tree(tmp_path / "journal")}
    assert nodes == {
        "": (1, 0, True),
        "before": (1, 1, True),
        "crashing": (1, 0, True),
        "crashing.linear": (0, 0, False),
        "after": (0, 0, False),
    }
    # What it would have given is a guess, and the one that the rest takes is found; alone it fails in the same way.
    assert run("CrashesInTheMiddle", stand_ins=("crashing",))[0].returncode == 0
    assert run("CrashesInTheMiddle", alone="crashing")[0].signal == 11
    assert run("CrashesInTheMiddle", alone="before")[0].returncode == 0


def test_a_crash_in_a_constructor_leaves_what_was_begun(
    run: Callable[..., tuple[RankResult, dict[str, Any]]], tmp_path: Path
) -> None:
    result, answer = run("CrashesWhenBuilt")
    assert (result.signal, answer["phase"]) == (11, "construct")
    nodes = read_tree(tmp_path / "journal")
    linear = "torch.nn.modules.linear.Linear"
    assert [without_place(node) for node in nodes] == [
        begun("CrashesWhenBuilt", "edited.CrashesWhenBuilt#0", "", built=False),
        begun("Linear", f"{linear}#0", "edited.CrashesWhenBuilt#0"),
        begun("NeverBuilt", "edited.NeverBuilt#0", "edited.CrashesWhenBuilt#0", built=False),
        begun("Linear", f"{linear}#1", "edited.NeverBuilt#0"),
    ]
    # Its arguments are attributes, as they mostly are: `crashing.width` is read by the model's own constructor.
    assert run("CrashesWhenBuilt", not_built=("edited.NeverBuilt#0",))[0].returncode == 0
    assert run("CrashesWhenBuilt", not_built=(f"{linear}#0",))[0].signal == 11


def begun(class_name: str, built_as: str, inside: str, *, built: bool = True) -> ModuleNode:
    return ModuleNode(path="", class_name=class_name, built_as=built_as, inside=inside, built=built)


def without_place(node: ModuleNode) -> ModuleNode:
    assert bool(node.place) == (node.class_name != "Linear")
    return replace(node, place="")
