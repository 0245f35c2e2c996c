from __future__ import annotations

import pytest

from diagnostics.static.slicing.source_closure import Own
from diagnostics.static.slicing.value_literals import Literals, NotTextError, NumberFidelity, tensor_text


def texts() -> Literals:
    """A project whose module `shop` is at hand; `shop.Config` is a dataclass."""

    def at_hand(name: str) -> Own | None:
        module, _, inner = name.partition(":")
        return Own(module, inner.partition(".")[0]) if module == "shop" else None

    return Literals(
        at_hand=at_hand,
        called=lambda own: f"{own.name}_of_{own.module}",
        construction=lambda name: f"<{name}>",
        with_keywords=lambda own: own.name == "Config",
    )


@pytest.mark.parametrize(
    ("recorded", "text"),
    [
        (None, "None"),
        (1.5, "1.5"),
        ("a 'b'", '"a \'b\'"'),
        ([1, {"tuple": [2]}, {"tuple": []}], "[1, (2,), ()]"),
        ({"dim": 4, "a-b": True}, "{'dim': 4, 'a-b': True}"),
        ({"module": "shop.Block#1"}, "<shop.Block#1>"),
        ({"name": "torch.nn.modules.normalization:LayerNorm"}, "torch.nn.LayerNorm"),
        ({"name": "torch._C._nn:gelu"}, "torch.nn.functional.gelu"),
        ({"name": "torch.nn.functional:relu"}, "torch.nn.functional.relu"),
        ({"name": "builtins:len"}, "len"),
        ({"name": "shop:Kind.make"}, "Kind_of_shop.make"),
        ({"name": "math:sqrt"}, "math.sqrt"),
        ({"dtype": "bfloat16"}, "torch.bfloat16"),
        ({"tensor": [2, 3], "dtype": "float32"}, "torch.randn(2, 3)"),
        ({"enum": "shop:Kind.FULL"}, "Kind_of_shop.FULL"),
        ({"partial": {"name": "shop:Norm"}, "arguments": {"args": [1], "eps": 0.1}},
         "functools.partial(Norm_of_shop, 1, eps=0.1)"),
        ({"object": "shop:Config", "attributes": {"dim": 4}}, "Config_of_shop(dim=4)"),
        ({"object": "shop:Other", "attributes": {"dim": 4}}, "made(Other_of_shop, dim=4)"),
        ({"object": "argparse:Namespace", "attributes": {"dim": 4}}, "argparse.Namespace(dim=4)"),
        ({"repr": "float('nan')"}, "float('nan')"),
        ({"repr": "device(type='cpu')"}, "torch.device(type='cpu')"),
    ],
)  # fmt: skip
def test_a_constructors_argument_is_written_as_a_user_would(recorded: object, text: str) -> None:
    assert texts().argument(recorded) == text


@pytest.mark.parametrize(
    "recorded",
    [{"repr": "<open file>"}, {"module": ""}, {"name": "shop:make.<locals>.act"}, {"name": ":act"[:1] + "Act"}],
)
def test_what_no_text_can_make_is_refused(recorded: object) -> None:
    with pytest.raises(NotTextError):
        texts().argument(recorded)


def tensor(*shape: int, dtype: str = "float32", **more: object) -> dict[str, object]:
    told = {"kind": "tensor", "shape": list(shape), "dtype": dtype, "grad": False}
    return {**told, "mean": 0.0, "std": 1.0, "low": -3.0, "high": 3.0, "nan": False, **more}


@pytest.mark.parametrize(
    ("told", "numbers", "text"),
    [
        (tensor(2, 3), NumberFidelity.SIMPLE, "torch.randn(2, 3)"),
        (tensor(), NumberFidelity.SIMPLE, "torch.randn(())"),
        (tensor(2, grad=True), NumberFidelity.SIMPLE, "torch.randn(2, requires_grad=True) * 1"),
        (tensor(2, dtype="bfloat16"), NumberFidelity.SIMPLE, "torch.randn(2, dtype=torch.bfloat16)"),
        (tensor(2, mean=0.1, std=0.2), NumberFidelity.SIMPLE, "torch.randn(2)"),
        (tensor(2, mean=0.1, std=0.2), NumberFidelity.ALIKE, "torch.randn(2) * 0.2 + 0.1"),
        (tensor(2, mean=0.5, std=0.2, low=0.1, high=0.9), NumberFidelity.SIMPLE, "torch.rand(2)"),
        (tensor(2, mean=5.0, std=0.0, low=5.0, high=5.0), NumberFidelity.SIMPLE, "torch.full((2,), 5)"),
        (tensor(2, nan=True), NumberFidelity.SIMPLE, "torch.full((2,), float('nan'))"),
        (tensor(2, 3, dtype="int64", low=4, high=9), NumberFidelity.SIMPLE, "torch.randint(4, 10, (2, 3))"),
        (
            tensor(2, dtype="int32", low=0, high=1),
            NumberFidelity.SIMPLE,
            "torch.randint(0, 2, (2,), dtype=torch.int32)",
        ),
        (tensor(2, dtype="bool", low=0, high=1), NumberFidelity.SIMPLE, "torch.rand((2,)) < 0.5"),
        (tensor(2, dtype="bool", low=1, high=1), NumberFidelity.SIMPLE, "torch.full((2,), True)"),
        (tensor(2, dtype="int64", low=0, high=9, values=[9, 0]), NumberFidelity.SIMPLE, "torch.randint(0, 10, (2,))"),
        (tensor(2, dtype="int64", low=0, high=9, values=[9, 0]), NumberFidelity.MASKS, "torch.tensor([9, 0])"),
        (
            tensor(1, 2, values=[0.0, "-inf"]),
            NumberFidelity.MASKS,
            "torch.tensor([0.0, float('-inf')]).reshape((1, 2))",
        ),
        (tensor(5, values=[1.0, 2.0, 3.0, 4.0, 5.0]), NumberFidelity.MASKS, "torch.randn(5)"),
        (tensor(5, values=[1.0, 2.0, 3.0, 4.0, 5.0]), NumberFidelity.EQUAL, "torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])"),
    ],
)
def test_a_tensor_is_drawn_alike(told: dict[str, object], numbers: NumberFidelity, text: str) -> None:
    assert tensor_text(told, numbers) == text


def test_a_tensor_that_is_given_twice_is_the_same_one() -> None:
    args = {"kind": "tuple", "items": [{"kind": "value", "value": 2}, tensor(3), tensor(4)]}
    kwargs = {
        "kind": "dict",
        "class": "builtins:dict",
        "names": ["same", "more"],
        "items": [tensor(4, input=1), {"kind": "list", "items": [{"kind": "value", "value": None}]}],
    }
    assert texts().call(args, kwargs) == "2, torch.randn(3), (x1 := torch.randn(4)), same=x1, more=[None]"


def test_an_input_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(NotTextError, match="shop:Stream"):
        texts().call({"items": [{"kind": "opaque", "class": "shop:Stream"}]}, {})
