"""States that are loaded back into the model whose own tensors they still are: real runs."""

from __future__ import annotations

import pytest

from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import NothingLoaded, StateNotKept

HEAD = """
    import torch
    from torch import nn
    torch.manual_seed(0)
    def built(): return nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    model = built()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    def train(count=5):
        for _ in range(count):
            optimizer.zero_grad(); model(torch.randn(8, 4)).mean().backward(); optimizer.step()
    def fitting(state, own): return {name: one for name, one in state.items() if name in own}
"""


def _marks(watch_warm, source: str, kind: type):
    run = watch_warm(HEAD + source)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert [event.text for event in agent.events if event.kind in ("no-prints", "no-marks")] == []
    return run.record.prints.get(agent.name[len("agent-") : -len(".bin")], ParameterPrints()).marks_of(kind)


KEPT = {
    "moved to where they are": "best = {name: one.detach().to('cpu') for name, one in model.state_dict().items()}",
    "parameters themselves": "model.state_dict(); best = dict(model.named_parameters())",
}


@pytest.mark.parametrize("how", KEPT)
def test_a_state_of_other_tensors_at_the_same_addresses_is_marked_when_it_is_loaded_back(watch_warm, how: str) -> None:
    source = f"""
    train()
    {KEPT[how]}
    train()
    model.load_state_dict(best)
    train()
"""
    (mark,) = _marks(watch_warm, source, StateNotKept)
    assert (mark.root, mark.loaded, mark.since, mark.step) == ("Sequential", True, 5, 10)


ROUNDS = """
    import copy
    server = {server}
    def client(content, count):
        model.load_state_dict(content)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        for _ in range(count):
            optimizer.zero_grad(); model(torch.randn(8, 4)).mean().backward(); optimizer.step()
        return copy.deepcopy(model.state_dict())
    for turn in range(3):
        content = {content}
        results = [client(content, 4) for _ in range(2)]
        server.load_state_dict({{name: sum(one[name] for one in results) / 2 for name in results[0]}})
"""


def test_the_state_of_a_model_that_all_clients_share_is_marked_though_each_makes_an_optimizer_of_its_own(
    watch_warm,
) -> None:
    marks = _marks(watch_warm, ROUNDS.format(server="model", content="server.state_dict()"), StateNotKept)
    assert marks
    assert (marks[0].root, marks[0].loaded, marks[0].since, marks[0].step) == ("Sequential", True, 8, 12)
    assert (marks[0].taken[0].function, marks[0].path[0].function) == ("<module>", "client")


@pytest.mark.parametrize(
    ("server", "content"), [("model", "copy.deepcopy(server.state_dict())"), ("built()", "server.state_dict()")]
)
def test_a_copy_for_the_clients_or_a_model_of_the_server_is_not_marked(watch_warm, server: str, content: str) -> None:
    assert _marks(watch_warm, ROUNDS.format(server=server, content=content), StateNotKept) == ()


PHASES = """
    train()
    latest = model.state_dict()
    second = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(5):
        second.zero_grad(); model(torch.randn(8, 4)).mean().backward(); second.step()
    torch.save(latest, "latest.pt")
"""


def test_an_alias_of_the_latest_that_a_second_phase_saves_is_not_marked(watch_warm) -> None:
    assert _marks(watch_warm, PHASES, StateNotKept) == ()


RIGHT = """
    train()
    copied = {name: one.detach().clone() for name, one in model.state_dict().items()}
    train()
    model.load_state_dict(copied)
    mixed = {**model.state_dict(), **{"1.bias": torch.ones(1)}}
    model.load_state_dict(mixed)
    train()
    filled = {name: one.detach() for name, one in model.state_dict().items()}  # as torch.distributed.checkpoint does
    for name, one in filled.items(): one.copy_(copied[name])
    model.load_state_dict(filled)
    train()
    other = built()
    other.load_state_dict({name: one.detach() for name, one in model.state_dict().items()})
"""


def test_copies_and_states_that_were_taken_for_the_load_are_not_marked(watch_warm) -> None:
    assert _marks(watch_warm, RIGHT, StateNotKept) == ()


LOST = """
    torch.save({"epoch": 3, "net": {"module." + name: one for name, one in built().state_dict().items()}}, "pre.pt")
    own = model.state_dict()
    own.update(fitting(torch.load("pre.pt")["net"], own))
    model.load_state_dict(own)
    train()
"""
FOUND = """
    torch.save({"net": {"encoder." + name: one for name, one in built().state_dict().items()}}, "pre.pt")
    torch.save({"net": built().state_dict()}, "half.pt")
    torch.save({"a.x": torch.ones(1), "a.y": torch.ones(1)}, "data.pt")
    other = built()
    own = other.state_dict()
    own.update({"0.weight": torch.load("half.pt")["net"]["0.weight"]})
    other.load_state_dict(own)
    torch.load("data.pt")
    other.load_state_dict(other.state_dict())
    own = model.state_dict()
    own.update(fitting(torch.load("pre.pt")["net"], own))
    model.load_state_dict(own)
    model.load_state_dict({name.partition(".")[2]: one for name, one in torch.load("pre.pt")["net"].items()})
    train()
"""


def test_a_file_of_which_the_program_took_nothing_is_marked_and_one_that_is_taken_later_is_not(watch_warm) -> None:
    (mark,) = _marks(watch_warm, LOST, NothingLoaded)
    assert (mark.root, mark.keys, mark.given[0], mark.wanted[0]) == ("Sequential", 4, "module.0.weight", "0.weight")


TAKES_NOTHING = {
    "looked up in an empty dict": """
    found, own = {}, model.state_dict()
    for name, one in torch.load("pre.pt")["net"].items():
        if name in found:
            found[name] = one
    own.update(found)
    model.load_state_dict(own)
""",
    "chosen and not put in": """
    own = model.state_dict()
    chosen = fitting(torch.load("pre.pt")["net"], own)
    model.load_state_dict(own, strict=False)
""",
    "put into another copy": """
    own = {name: one for name, one in model.state_dict().items()}
    dict(own).update(torch.load("pre.pt")["net"])
    model.load_state_dict(own)
""",
}
TAKES_ITS_OWN = {
    "copied in place": """
    own = model.state_dict()
    for name, one in torch.load("pre.pt")["net"].items(): own[name].copy_(one)
    model.load_state_dict(own)
""",
    "all but the head": """
    own = model.state_dict()
    own.update({name: one for name, one in torch.load("pre.pt")["net"].items() if name.startswith("0")})
    model.load_state_dict(own)
""",
    "loaded before": """
    model.load_state_dict(torch.load("pre.pt")["net"])
    model.load_state_dict(model.state_dict())
""",
    "of other shapes": """
    torch.save({name: one.new_ones(7, 3).normal_() for name, one in model.state_dict().items()}, "other.pt")
    own = model.state_dict()
    own.update({name: one for name, one in torch.load("other.pt").items() if one.shape == own[name].shape})
    model.load_state_dict(own)
""",
    "of other things": """
    torch.save({name: torch.randn(4, 4) for name in ("mean", "std", "grid")}, "units.pt")
    torch.load("units.pt")
    model.load_state_dict(model.state_dict())
""",
    "loaded later": """
    state = torch.load("pre.pt")["net"]
    model.load_state_dict(model.state_dict())
    model.load_state_dict(state)
""",
}
WIDE = """
    def built(): return nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
    model = built()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    def train(count=5):
        for _ in range(count):
            optimizer.zero_grad(); model(torch.randn(8, 8)).mean().backward(); optimizer.step()
    torch.save({"epoch": 3, "net": built().state_dict()}, "pre.pt")
"""


@pytest.mark.parametrize("how", TAKES_NOTHING)
def test_a_file_that_fits_and_of_which_no_number_is_in_the_state_is_marked(watch_warm, how: str) -> None:
    (mark,) = _marks(watch_warm, WIDE + TAKES_NOTHING[how] + "    train()\n", NothingLoaded)
    assert (mark.root, mark.keys, mark.given[0], mark.fits) == ("Sequential", 4, "0.weight", True)


@pytest.mark.parametrize("how", TAKES_ITS_OWN)
def test_a_state_that_has_the_numbers_of_the_file_or_fits_no_file_is_not_marked(watch_warm, how: str) -> None:
    assert _marks(watch_warm, WIDE + TAKES_ITS_OWN[how] + "    train()\n", NothingLoaded) == ()


def test_a_file_of_which_something_is_taken_in_the_end_is_not_marked(watch_warm) -> None:
    assert _marks(watch_warm, FOUND, NothingLoaded) == ()
