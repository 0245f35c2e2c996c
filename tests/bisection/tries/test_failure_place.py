"""The name of a place stays the same where parts of the model are taken out, and differs where the fault is another."""

from __future__ import annotations

import pytest

from diagnostics.bisection.failure_identity import BlockedIn, place_of, same_place, wait_of
from diagnostics.core.frame import Frame

SITE = "/venv/lib/python3.11/site-packages/"
OURS = ("/doctor/children",)
CALL = f"{SITE}torch/nn/modules/module.py:1789 _call_impl"
WRAPPED = f"{SITE}torch/nn/modules/module.py:1778 _wrapped_call_impl"
RUNNER = "/doctor/children/trial/stepping.py:56 forward_backward"
LINEAR = f"{SITE}torch/nn/modules/linear.py:134 forward"
BLOCK = "/job/model.py:31 Block.forward"
NET = "/job/model.py:90 forward"
DDP = f"{SITE}torch/nn/parallel/distributed.py:1890 forward"
SEQUENTIAL = f"{SITE}torch/nn/modules/container.py:250 forward"
ALL_REDUCE = f"{SITE}torch/distributed/distributed_c10d.py:2810 all_reduce"
LOGGED = f"{SITE}torch/distributed/c10d_logger.py:81 wrapper"
BACKWARD = (f"{SITE}torch/autograd/graph.py:824 _engine_run_backward", f"{SITE}torch/_tensor.py:581 backward")


def stack(*lines: str) -> list[Frame]:
    """The frames of "file:line function", innermost first."""
    parts = [(*line.partition(" ")[0].rpartition(":")[::2], line.partition(" ")[2]) for line in lines]
    return [Frame(file=file, line=int(number), function=function) for file, number, function in parts]


def place(*lines: str, moving: bool = False) -> str:
    return place_of(stack(*lines), cwd="/job", ours=OURS, moving=moving)


@pytest.mark.parametrize(
    "outer",
    [(RUNNER,), (CALL, WRAPPED, NET, CALL, WRAPPED, RUNNER), (CALL, WRAPPED, NET, CALL, DDP, CALL, RUNNER)],
    ids=["alone", "in the model", "in the model under ddp"],
)
@pytest.mark.parametrize(
    "inner",
    [(), ("/usr/lib/python3.11/ctypes/__init__.py:519 string_at",), (f"{SITE}torch/nn/functional.py:9 softmax",)],
    ids=["own line", "the standard library", "a function of torch"],
)
def test_a_line_of_the_users_own_is_the_place_whatever_is_around_it(
    inner: tuple[str, ...], outer: tuple[str, ...]
) -> None:
    assert place(*inner, BLOCK, *outer) == "model.py:31 forward"


def test_a_function_that_torch_compile_has_cut_in_two_keeps_its_name() -> None:
    assert place("/job/model.py:31 torch_dynamo_resume_in_forward_at_30", RUNNER) == "model.py:31 forward"


def test_a_module_of_a_library_is_named_with_the_users_line_that_calls_it() -> None:
    inside = place(LINEAR, CALL, WRAPPED, BLOCK, CALL, WRAPPED, NET, RUNNER)
    assert inside == "torch/nn/modules/linear.py forward < model.py:31 forward"
    in_sequential = place(LINEAR, CALL, WRAPPED, SEQUENTIAL, CALL, WRAPPED, BLOCK, RUNNER)
    alone = place(LINEAR, CALL, WRAPPED, RUNNER)
    elsewhere = place(LINEAR, CALL, WRAPPED, NET, CALL, WRAPPED, RUNNER)
    assert (in_sequential, alone) == (inside, "torch/nn/modules/linear.py forward")
    assert same_place(inside, alone)
    assert same_place(alone, inside)
    assert not same_place(inside, elsewhere)


def test_an_installed_package_keeps_its_line_and_the_users_line_comes_after() -> None:
    layer = f"{SITE}timm/layers.py:12 forward"
    inside = place(layer, CALL, WRAPPED, NET, RUNNER)
    assert inside == "timm/layers.py:12 forward < model.py:90 forward"
    assert same_place(inside, place(layer, CALL, WRAPPED, RUNNER))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([*BACKWARD, RUNNER], "torch/_tensor.py backward"),
        ([RUNNER], ""),
        ([], ""),
        ([CALL, WRAPPED, RUNNER], ""),
        ([f"{SITE}Cython/a.pyx:1 _find", "/job/model.py:3 <module>"], "model.py:3 <module>"),
        (["/usr/lib/python3.11/ctypes/__init__.py:519 string_at"], "ctypes/__init__.py string_at"),
        (["/elsewhere/other.py:4 run"], "/elsewhere/other.py:4 run"),
    ],
)
def test_without_a_line_of_the_users_the_library_is_named_without_its_line(lines: list[str], expected: str) -> None:
    assert place(*lines) == expected


def test_the_line_of_a_rank_that_may_still_run_is_left_out_and_kept_where_it_waits_in_a_call() -> None:
    assert place(BLOCK, CALL, RUNNER, moving=True) == "model.py forward"
    assert place(ALL_REDUCE, LOGGED, BLOCK, CALL, RUNNER, moving=True) == "model.py:31 forward"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([BLOCK, CALL, DDP, CALL, RUNNER], BlockedIn.ITSELF),
        ([LINEAR, CALL, BLOCK, CALL, DDP, RUNNER], BlockedIn.ITSELF),
        ([ALL_REDUCE, LOGGED, BLOCK, CALL, DDP, CALL, RUNNER], BlockedIn.CALLED),
        ([*BACKWARD, RUNNER], BlockedIn.WRAPPER),
        ([f"{SITE}torch/distributed/fsdp/_fully_shard/_fsdp_common.py:5 wrapper", NET, RUNNER], BlockedIn.WRAPPER),
        ([DDP, CALL, RUNNER], BlockedIn.WRAPPER),
        ([BLOCK, *BACKWARD, RUNNER], BlockedIn.ITSELF),
    ],
)
def test_a_rank_waits_for_its_peers_only_where_its_innermost_line_stands_in_communication(
    lines: list[str], expected: BlockedIn
) -> None:
    assert wait_of(stack(*lines), ours=OURS) is expected
