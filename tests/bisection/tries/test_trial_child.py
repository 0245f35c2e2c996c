"""One rank of a try builds, wraps and steps a model, and says how far it came."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from diagnostics.bisection.case import Configuration, RunSettings, Source
from diagnostics.machine.execution.ranks import TorchRanks
from diagnostics.machine.facts import RankResult

MODELS = Path(__file__).parents[1] / "models"
CHILDREN = Path(__file__).parents[3] / "diagnostics" / "children"
BEFORE = ["import", "group", "construct", "batch", "edit", "move", "wrap"]
STEP = ["batch", "forward", "loss", "backward", "optimizer"]
TWO = RunSettings(world=2, wrapper="ddp", steps=2)
Answer = dict[str, Any]


@dataclass(frozen=True)
class Tried:
    """How the ranks ended, and what they answered."""

    results: list[RankResult]
    answers: list[Answer]

    @property
    def codes(self) -> list[int | None]:
        return [result.returncode for result in self.results]

    def of_all(self, name: str) -> list[Any]:
        return [answer[name] for answer in self.answers]


@pytest.fixture(scope="module")
def ranks() -> Iterator[TorchRanks]:
    """Ranks that run in the folder of the models, as those of a user run where the command is called."""
    found, here = TorchRanks(sys.executable), Path.cwd()
    os.chdir(MODELS)
    found.warm(for_modules=True)
    os.chdir(here)
    yield found
    found.close()


@pytest.fixture
def attempt(ranks: TorchRanks, tmp_path: Path) -> Callable[..., Tried]:
    def run(case: Configuration, *, program: str = "", **more: object) -> Tried:
        world = case.settings.world
        request = {**case.as_json(), "result": str(tmp_path / "answer-{rank}.json"), "timeout_s": 100, **more}
        if program:
            (tmp_path / "request.json").write_text(json.dumps(request))
            argv = [program, str(CHILDREN / "trial_rank.py"), str(tmp_path / "request.json")]
            results = ranks.run_command(argv, world, deadline_s=100)
        else:
            arguments = {"request": request, "agent": str(CHILDREN.parent / "agent")}
            results = ranks.run_task("trial", world, backend="gloo", deadline_s=60, arguments=arguments)
        answers = [json.loads((tmp_path / f"answer-{rank}.json").read_text()) for rank in range(world)]
        return Tried(results, answers)

    return run


def case(factory: str = "Net", inputs: str = "batch", settings: RunSettings | None = None) -> Configuration:
    file = MODELS / "trained.py"
    source = Source(factory=f"{file}:{factory}", inputs=f"{file}:{inputs}" if inputs else "")
    return Configuration(source=source, settings=settings or RunSettings())


def phases(answer: Answer) -> list[str]:
    return [name for name, _ in answer["phases"]]


def line(text: str) -> int:
    return (MODELS / "trained.py").read_text().splitlines().index(text) + 1


@pytest.mark.parametrize("wrapper", ["none", "ddp", "fsdp2", "fsdp1"])
def test_a_healthy_model_goes_through_all_phases(attempt: Callable[..., Tried], wrapper: str) -> None:
    tried = attempt(case(settings=replace(TWO, wrapper=wrapper)))
    assert tried.codes == [0, 0]
    assert [phases(answer) for answer in tried.answers] == [[*BEFORE, *STEP, *STEP, "end"]] * 2
    assert [(one["phase"], one["error"], one["refusal"], one["nonfinite"]) for one in tried.answers] == [
        ("", None, "", "")
    ] * 2
    digests = {*tried.of_all("gradients")}, {*tried.of_all("parameters")}
    assert [len(one - {""}) for one in digests] == ([1, 1] if wrapper == "ddp" else [0, 0])


def test_ranks_start_from_one_model_and_have_batches_of_their_own(attempt: Callable[..., Tried]) -> None:
    alone, pair = attempt(case()), attempt(case(settings=TWO))
    first = [losses[0] for losses in pair.of_all("losses")]
    assert first[0] == alone.answers[0]["losses"][0]
    assert first[0] != first[1]


def test_all_settings_at_once_leave_ranks_that_agree(attempt: Callable[..., Tried]) -> None:
    everything = replace(TWO, amp="bfloat16", accumulate=2, checkpointing=True, workers=2, threads=2)
    tried = attempt(case(settings=everything))
    assert tried.codes == [0, 0]
    assert phases(tried.answers[0]) == [*BEFORE, *([*STEP[:-1], *STEP] * 2), "end"]
    assert len({*tried.of_all("parameters")}) == 1


def test_a_crash_leaves_the_phase_it_came_in(attempt: Callable[..., Tried]) -> None:
    tried = attempt(case("crash", settings=TWO))
    assert [result.signal for result in tried.results] == [11, 11]
    assert [(one["phase"], one["step"], phases(one)) for one in tried.answers] == [
        ("forward", 1, [*BEFORE, "batch"])
    ] * 2


def test_an_exception_is_told_with_module_and_line(attempt: Callable[..., Tried]) -> None:
    tried = attempt(case("raises", settings=TWO))
    assert tried.codes == [1, 1]
    error = tried.answers[1]["error"]
    assert error["traceback"].endswith("ValueError: block 1 of 3 cannot go on\n")
    assert error["traceback"] in tried.results[1].stderr.replace("[rank1]: ", "")
    frames = [frame for frame in error["frames"] if frame[0] == str(MODELS / "trained.py")]
    assert frames == [
        [str(MODELS / "trained.py"), line("            x = block(x)"), "forward"],
        [str(MODELS / "trained.py"), line('            raise ValueError("block 1 of 3 cannot go on")'), "forward"],
    ]
    assert frames[-1] == error["frames"][-1]
    known = {name: error[name] for name in ("phase", "step", "type", "message", "module", "module_class")}
    assert known == {
        "phase": "forward",
        "step": 1,
        "type": "ValueError",
        "message": "block 1 of 3 cannot go on",
        "module": "blocks.1",
        "module_class": "Block",
    }


@pytest.mark.parametrize(
    ("factory", "inputs", "code", "told"),
    [
        ("fails", "batch", 1, ("construct", "KeyError", "'width'")),
        ("leaves", "batch", 3, ("forward", "SystemExit", "3")),
        ("Net", "fails", 1, ("batch", "KeyError", "'width'")),
        ("loud", "batch", 1, ("construct", "LoudError", "(its text raised TypeError)")),
        ("deep", "batch", 1, ("construct", "RecursionError", "maximum recursion depth exceeded")),
    ],
)
def test_what_the_users_code_raises_is_a_failure(
    attempt: Callable[..., Tried], factory: str, inputs: str, code: int, told: tuple[str, str, str]
) -> None:
    tried = attempt(case(factory, inputs))
    error = tried.answers[0]["error"]
    assert (tried.codes, (error["phase"], error["type"], error["message"])) == ([code], told)


@pytest.mark.parametrize(
    ("factory", "inputs", "settings", "told"),
    [
        ("nett", "batch", {}, "FILE:nett: FILE has no 'nett'"),
        ("not_a_model", "batch", {}, "FILE:not_a_model returned a int, not a torch.nn.Module"),
        ("Block.forward", "batch", {}, "FILE:Block.forward needs arguments (self, x)"),
        ("Net", "", {}, "Net.forward takes (x)"),
        ("Net", "pair", {}, "the inputs do not fit Net.forward(x): too many positional arguments"),
        ("Net", "batch", {"wrapper": "horovod"}, "no wrapper is named 'horovod'"),
        ("Net", "batch", {"device": "cuda:9"}, "device cuda:9 cannot be used"),
        ("Detached", "batch", {"wrapper": "ddp"}, "no output of Detached has a gradient: a wrapper cannot train it"),
        ("WithoutParameters", "batch", {"wrapper": "ddp"}, "no parameter of WithoutParameters requires a gradient"),
        ("WithoutParameters", "batch", {"wrapper": "fsdp2"}, "no parameter of WithoutParameters requires a gradient"),
    ],
)
def test_what_cannot_be_run_as_asked_is_refused_in_a_sentence(
    attempt: Callable[..., Tried], factory: str, inputs: str, settings: dict[str, Any], told: str
) -> None:
    tried = attempt(case(factory, inputs, RunSettings(**settings)))
    answer = tried.answers[0]
    assert (tried.codes, answer["error"]) == ([2], None)
    assert answer["refusal"].replace(str(MODELS / "trained.py"), "FILE").startswith(told)
    assert answer["refusal"] in tried.results[0].stderr


def test_a_number_lost_on_one_rank_keeps_no_other_waiting(attempt: Callable[..., Tried]) -> None:
    tried = attempt(case("nan", settings=TWO))
    assert tried.codes == [0, 0]
    assert [(one["nonfinite"], one["nonfinite_step"]) for one in tried.answers] == [
        ("gradient of blocks.0.first.weight", 1),
        ("loss", 1),
    ]
    assert tried.of_all("losses")[1] == ["nan", "nan"]


def test_gradients_that_are_no_numbers_are_named(attempt: Callable[..., Tried]) -> None:
    answer = attempt(case("RootOfZero")).answers[0]
    assert (answer["nonfinite"], answer["losses"]) == ("gradient of scale.weight", [0.0])


def test_the_place_where_a_number_was_lost_is_found(attempt: Callable[..., Tried]) -> None:
    healthy_rank, forward = attempt(case("nan", settings=TWO), origin=True).answers
    assert (healthy_rank["nonfinite_module"], healthy_rank["nonfinite_frames"]) == (None, [])
    own = [frame for frame in forward["nonfinite_frames"] if frame[0] == str(MODELS / "trained.py")]
    assert (forward["nonfinite_module"], [frame[1] for frame in own]) == (
        "blocks.1",
        [line("            x = block(x)")],
    )
    backward = attempt(case("RootInside", settings=TWO), origin=True).answers[0]
    place = [str(MODELS / "trained.py"), line("        return torch.sqrt(self.scale(x) * 0)"), "forward"]
    assert (backward["nonfinite_module"], backward["nonfinite_frames"][-1]) == ("blocks.1", place)
    healthy = attempt(case(), origin=True)
    assert (healthy.codes, healthy.of_all("nonfinite_frames")) == ([0], [[]])


@pytest.mark.parametrize(
    ("factory", "inputs"),
    [
        ("lazy", "batch"),
        ("sparse", "numbers"),
        ("Keywords", "keywords"),
        ("Net", "generator"),
        ("Net", "loader"),
        ("reads_the_command_line", "batch"),
        ("closes_its_output", "batch"),
    ],
)
def test_models_and_inputs_of_all_kinds_are_stepped(attempt: Callable[..., Tried], factory: str, inputs: str) -> None:
    tried = attempt(case(factory, inputs, replace(TWO, steps=3)))
    assert (tried.codes, len(tried.answers[0]["losses"])) == ([0, 0], 3)


def test_a_loader_of_the_users_reads_with_the_workers_asked_for(attempt: Callable[..., Tried]) -> None:
    without, with_two = (attempt(case("Net", "crashing_loader", RunSettings(workers=number))) for number in (0, 2))
    assert without.codes == [0]
    error = with_two.answers[0]["error"]
    assert (error["phase"], error["type"]) == ("batch", "OSError")
    assert error["message"].endswith("OSError: the disk has gone\n")


def test_what_ddp_leaves_alone_may_differ(attempt: Callable[..., Tried]) -> None:
    tried = attempt(case("Left", settings=TWO))
    assert (tried.codes, len({*tried.of_all("gradients")}), len({*tried.of_all("parameters")})) == ([0, 0], 1, 1)


def test_without_steps_a_model_is_built_and_wrapped(attempt: Callable[..., Tried]) -> None:
    answer = attempt(case("Net", "", replace(TWO, steps=0))).answers[0]
    assert (phases(answer), answer["losses"]) == ([*BEFORE, "end"], [])


def test_an_unused_parameter_fails_in_the_second_step_and_an_option_heals_it(attempt: Callable[..., Tried]) -> None:
    error = attempt(case("Unused", settings=TWO)).answers[0]["error"]
    assert (error["phase"], error["step"], error["type"]) == ("forward", 2, "RuntimeError")
    healed = attempt(case("Unused", settings=replace(TWO, options=(("find_unused_parameters", True),))))
    assert healed.codes == [0, 0]


def test_an_allocation_beyond_the_limit_is_refused(attempt: Callable[..., Tried]) -> None:
    error = attempt(case("memory"), memory_bytes=300_000_000).answers[0]["error"]
    assert "DefaultCPUAllocator: can't allocate memory" in error["message"]
    assert attempt(case("memory"), memory_bytes=2_000_000_000).codes == [0]


def test_a_crash_leaves_a_trace_that_ends_in_the_module(attempt: Callable[..., Tried], tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    attempt(case("crash"), profile=str(file))
    events = json.loads(file.read_text().rstrip(",\n") + "]")
    assert [(one["name"], one["ph"]) for one in events][-2:] == [("blocks.0", "E"), ("blocks.1", "B")]


def test_a_healthy_trace_has_phases_modules_and_operations(attempt: Callable[..., Tried], tmp_path: Path) -> None:
    attempt(case(), profile=str(tmp_path / "trace-{rank}.json"))
    events = json.loads((tmp_path / "trace-0.json").read_text())["traceEvents"]
    assert {"forward", "backward", "blocks.1.first", "aten::addmm"} <= {event.get("name") for event in events}
    within = {event["name"]: event["ts"] for event in events if event.get("ph") in ("B", "X")}
    assert within["blocks.0"] < within["aten::addmm"] < within["optimizer"]


def handed_over(config: str = "good.yaml", stage: str = "", overrides: tuple[str, ...] = ()) -> Configuration:
    source = Source(adapter=("handing_over", "inspect", config), stage=stage)
    return Configuration(source=source, settings=replace(TWO, threads=2)).edit(overrides=overrides)


def test_an_adapter_hands_over_the_stage_that_is_wanted(attempt: Callable[..., Tried]) -> None:
    def ask(one: Configuration) -> tuple[int | None, Answer]:
        tried = attempt(one)
        return tried.codes[0], tried.answers[0]

    code, answer = ask(handed_over())
    assert (code, answer["stages"], len(answer["losses"])) == (0, ["first"], 2)
    code, answer = ask(handed_over(stage="second", overrides=("width=6",)))
    assert (code, answer["stages"], len(answer["losses"])) == (0, ["first", "second"], 2)
    code, answer = ask(handed_over(stage="third"))
    assert (code, answer["refusal"], answer["hint"]) == (
        2,
        "the adapter handing_over hands over no stage 'third'",
        "it has: first, second",
    )
    code, answer = ask(handed_over("wrong.yaml"))
    assert (code, answer["refusal"], answer["hint"]) == (2, "no such configuration: wrong.yaml", "ls *.yaml")
    code, answer = ask(handed_over("broken.yaml"))
    told = answer["error"]["phase"], answer["error"]["type"], answer["error"]["message"]
    assert (code, told) == (1, ("construct", "RuntimeError", "the second stage has no weights"))


@pytest.mark.slow
def test_a_rank_that_is_a_program_of_its_own_answers_what_a_forked_one_does(attempt: Callable[..., Tried]) -> None:
    forked, programs = attempt(case(settings=TWO)), attempt(case(settings=TWO), program=sys.executable)
    assert programs.codes == [0, 0]
    for name in ("losses", "gradients", "parameters"):
        assert programs.of_all(name) == forked.of_all(name)


def test_lightning_fabric_is_refused_where_it_is_not_installed(attempt: Callable[..., Tried]) -> None:
    if find_spec("lightning") is not None or find_spec("lightning_fabric") is not None:
        pytest.skip("Lightning is installed here")
    answer = attempt(case(settings=replace(TWO, wrapper="fabric"))).answers[0]
    assert (answer["refusal"], answer["hint"]) == (
        f"Lightning Fabric is not installed under {sys.executable}",
        "pip install lightning",
    )


@pytest.mark.slow
def test_lightning_fabric_steps_a_model_where_it_is_installed(attempt: Callable[..., Tried]) -> None:
    if find_spec("lightning") is None and find_spec("lightning_fabric") is None:
        pytest.skip("needs Lightning: pip install lightning")
    fabric = replace(TWO, wrapper="fabric", accumulate=2)
    with_fabric = attempt(case(settings=fabric), program=sys.executable)
    assert with_fabric.of_all("losses") == attempt(case(settings=replace(fabric, wrapper="ddp"))).of_all("losses")


@pytest.mark.slow
def test_a_compiled_model_fails_and_passes_as_the_plain_one(attempt: Callable[..., Tried]) -> None:
    assert attempt(case(settings=RunSettings(compile=True))).codes == [0]
    error = attempt(case("raises", settings=RunSettings(compile=True))).answers[0]["error"]
    assert (error["type"], error["module"]) == ("ValueError", "blocks.1")
