"""What a capture keeps of values, of a script's source, and what it says where a part cannot be kept."""

from __future__ import annotations

import argparse
import importlib
import pickle
import sys
import textwrap
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from diagnostics.agent.capturing.packing import pack
from diagnostics.agent.capturing.parts import said
from diagnostics.agent.capturing.script_names import planned

CHILDREN = Path(__file__).parent.parent.parent / "diagnostics" / "children"
KEY = "hf_" + "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The reader, under the private name that the children give it."""
    package = types.ModuleType("ups_doctor_children")
    package.__path__ = [str(CHILDREN)]
    monkeypatch.setitem(sys.modules, "ups_doctor_children", package)
    yield importlib.import_module("ups_doctor_children.trial_models.reading")
    for name in [name for name in sys.modules if name.startswith("ups_doctor_children")]:
        del sys.modules[name]


def again(reading: Any, folder: Path, value: Any, limit: int = 1 << 20, main: Any = None) -> Any:
    """Packs a value, writes it, reads it."""
    packed = pack(value, limit)
    (folder / "value.pkl").write_bytes(packed.data)
    torch.save(packed.tensors, folder / "value.tensors")
    return reading.read(folder, "value", main or types.SimpleNamespace())


def test_a_batch_comes_back_as_it_was_with_strides_dtypes_and_shared_tensors(captured: Any, tmp_path: Path) -> None:
    image = torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last)
    weight = torch.nn.Parameter(torch.randn(3, dtype=torch.float64), requires_grad=False)
    batch = {"image": image, "same": [image], "weight": weight, "n": (7, "seven"), "mask": torch.tensor([True, False])}
    got = again(captured, tmp_path, batch)
    assert torch.equal(got["image"], image)
    assert got["image"].stride() == image.stride()
    assert got["same"][0] is got["image"]
    assert isinstance(got["weight"], torch.nn.Parameter)
    assert (got["weight"].dtype, got["weight"].requires_grad) == (torch.float64, False)
    assert (got["n"], got["mask"].tolist()) == ((7, "seven"), [True, False])


def test_tensors_over_the_limit_keep_shape_dtype_and_range(captured: Any, tmp_path: Path) -> None:
    tokens = torch.randint(5, 9, (40, 50))
    values = torch.randn(200, 300) * 3 + 10
    packed = pack((tokens, values), 0)
    assert packed.spared == tokens.numel() * 8 + values.numel() * 4
    one, two = again(captured, tmp_path, (tokens, values), limit=0)
    other, _ = again(captured, tmp_path, (tokens, values), limit=0)
    assert (one.shape, one.dtype, int(one.min()), int(one.max())) == (tokens.shape, tokens.dtype, 5, 8)
    assert (two.shape, two.dtype) == (values.shape, values.dtype)
    assert (round(float(two.mean())), round(float(two.std()))) == (10, 3)
    assert torch.equal(one, other)


def test_a_slice_does_not_bring_the_whole_data_set_along() -> None:
    packed = pack(torch.zeros(1 << 20)[:4], 1 << 30)
    assert packed.tensors[0].untyped_storage().nbytes() == 16


def test_secrets_become_stars_wherever_they_stand(captured: Any, tmp_path: Path) -> None:
    options = argparse.Namespace(width=8, token=KEY, note=f"see {KEY} there", tokenizer="gpt2")
    got = again(captured, tmp_path, {"options": options, "again": KEY, "api_key": "swordfish-1234", "text": "plain"})
    assert KEY.encode() not in pack({"options": options, "again": KEY}, 0).data
    assert vars(got["options"]) == {
        "width": 8,
        "token": "*" * len(KEY),
        "note": "*" * len(options.note),
        "tokenizer": "gpt2",
    }
    assert (got["again"], got["api_key"], got["text"]) == ("*" * len(KEY), "*" * 14, "plain")


def test_a_pickle_without_secrets_is_left_as_it_is() -> None:
    value = {"max_tokens": 12, "tokenizer": "gpt2", "key_dim": "64", "path": "/data/train"}
    assert pickle.loads(pack(value, 0).data) == value  # noqa: S301 - our own


def refused(value: Any) -> str:
    """Returns what is said of a value that cannot be pickled."""
    named = {"argument `config` of Net": value}
    with pytest.raises(Exception, match="pickle"):
        pack(value, 0)
    return str(said(named, ValueError("no"), lambda part: pack(part, 0)))


def test_the_innermost_part_that_cannot_be_pickled_is_named() -> None:
    act = lambda x: x  # noqa: E731
    line = act.__code__.co_firstlineno
    where = f"inside test_the_innermost_part_that_cannot_be_pickled_is_named (test_captured_parts.py:{line})"
    assert refused({"dim": 4, "act": act}) == f"argument `config` of Net['act'] is a lambda {where}"
    assert refused(argparse.Namespace(layers=[1, (2, act)])) == (
        f"argument `config` of Net.layers[1][1] is a lambda {where}"
    )
    assert refused({"lock": threading.Lock()}) == (
        "argument `config` of Net['lock'] is a _thread.lock: cannot pickle '_thread.lock' object"
    )


def test_a_class_inside_a_function_is_said_to_be_there() -> None:
    class Local:
        def __init__(self) -> None: ...

    line = Local.__init__.__code__.co_firstlineno
    assert refused(Local) == (
        "argument `config` of Net is defined inside test_a_class_inside_a_function_is_said_to_be_there"
        f" (test_captured_parts.py:{line})"
    )


SCRIPT = """
from __future__ import annotations
import argparse
import torch
try:
    import flash_attn
except ImportError:
    flash_attn = None
args = argparse.Namespace(width=8)
SCALE = args.width * 2
act = lambda x: x * SCALE
unused = object()
print("the script runs")

def init(module):
    x = torch.nn.init
    return x

class Base(torch.nn.Module):
    def __init__(self): super().__init__(); init(self)

class Net(Base):
    def forward(self, x): return act(x) if flash_attn is None else x

for x in range(3):
    pass
"""


def plan_of(text: str, folder: Path, *names: str) -> list[Any]:
    """Returns the plan for these names, with line numbers of statements in place of their indices."""
    import ast

    path = folder / "train.py"
    path.write_text(textwrap.dedent(text))
    body = ast.parse(text).body
    values: dict[str, Any] = {"__name__": "train"}
    exec(compile(text, str(path), "exec"), values)  # noqa: S102
    plan, _ = planned(str(path), set(names), values, lambda value: pack(value, 0))
    return [ast.unparse(body[step[1]]).splitlines()[0] if step[0] == "run" else step[1] for step in plan]


def test_only_what_a_model_needs_of_its_script_is_done_again(tmp_path: Path) -> None:
    assert plan_of(SCRIPT, tmp_path, "Net") == [
        "from __future__ import annotations",
        "import torch",
        "try:",
        "SCALE",
        "act = lambda x: x * SCALE",
        "def init(module):",
        "class Base(torch.nn.Module):",
        "class Net(Base):",
    ]


def test_a_name_that_is_local_to_a_function_is_none_of_the_script(tmp_path: Path) -> None:
    text = "import torch\nbig = [0] * 10\ndef make(big):\n    return [big for big in big]\n"
    assert plan_of(text, tmp_path, "make") == ["def make(big):"]
