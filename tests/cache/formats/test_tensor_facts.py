"""What a scan says of each tensor: files that torch writes, and their healthy twins."""

from __future__ import annotations

import argparse
import collections
import datetime
import io
import pathlib
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from diagnostics.cache.file_scan import FileScan, TensorFact
from diagnostics.cache.scan.one_file import scan_file
from diagnostics.core.findings import Severity


def saved(folder: Path, value: Any, **options: Any) -> FileScan:
    torch.save(value, folder / "sample.pt", **options)
    return scan_file(str(folder / "sample.pt"))


def on_cpu(key: str, dtype: str, shape: tuple[int, ...], size: int, **more: Any) -> TensorFact:
    fact = TensorFact(key=key, dtype=dtype, shape=shape, device="cpu", bytes=size, storage_bytes=size)
    return replace(fact, **more)


def base() -> torch.Tensor:
    return torch.zeros(1 << 20)


def with_foo(tensor: torch.Tensor) -> torch.Tensor:
    tensor.foo = 1  # type: ignore[attr-defined]
    return tensor


def sparse_rows() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a beta notice
        return torch.eye(3).to_sparse_csr()


def nested() -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a prototype notice
        return torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)])


FACTS: dict[str, tuple[Callable[[], Any], list[TensorFact]]] = {
    "bare": (lambda: torch.zeros(5), [on_cpu("", "float32", (5,), 20)]),
    "nested containers": (
        lambda: {"model": {"layers": [{"weight": torch.ones(2)}]}, 3: (torch.zeros(1),), "a.b": torch.zeros(1)},
        [
            on_cpu("model.layers[0].weight", "float32", (2,), 8),
            on_cpu("[3][0]", "float32", (1,), 4),
            on_cpu("a.b", "float32", (1,), 4),
        ],
    ),
    "parameter": (
        lambda: {"w": torch.nn.Parameter(torch.ones(2))},
        [on_cpu("w", "float32", (2,), 8, requires_grad=True)],
    ),
    "state dict": (
        lambda: torch.nn.Linear(3, 2).state_dict(),
        [on_cpu("weight", "float32", (2, 3), 24), on_cpu("bias", "float32", (2,), 8)],
    ),
    "shared": (
        lambda: (lambda tensor: [tensor, tensor[:2]])(torch.zeros(4)),
        [on_cpu("[0]", "float32", (4,), 16), on_cpu("[1]", "float32", (2,), 8, storage_bytes=16)],
    ),
    "new dtypes": (
        lambda: {"u": torch.zeros(3, dtype=torch.uint16), "f": torch.zeros(4, dtype=torch.float8_e4m3fn)},
        [on_cpu("u", "uint16", (3,), 6), on_cpu("f", "float8_e4m3fn", (4,), 4)],
    ),
    "meta": (
        lambda: {"m": torch.zeros(2, 3, device="meta")},
        [on_cpu("m", "float32", (2, 3), 24, device="meta", storage_bytes=0)],
    ),
    "sparse": (lambda: {"s": torch.eye(3).to_sparse()}, [on_cpu("s", "float32", (3, 3), 60)]),
    "sparse rows": (sparse_rows, [on_cpu("", "float32", (3, 3), 68, storage_bytes=92)]),
    "ragged": (nested, [on_cpu("", "float32", (5,), 68)]),
    "conjugated": (lambda: torch.zeros(3, dtype=torch.complex64).conj(), [on_cpu("", "complex64", (3,), 24)]),
    "expanded": (lambda: torch.zeros(1).expand(5), [on_cpu("", "float32", (5,), 20, storage_bytes=4)]),
    "with an attribute": (lambda: with_foo(torch.zeros(3)), [on_cpu("", "float32", (3,), 12)]),
    "empty": (lambda: [torch.zeros(0, 3)], [on_cpu("[0]", "float32", (0, 3), 0)]),
    "no tensor": (lambda: {"d": torch.device("cuda:0"), "t": [torch.float32, torch.Size([3]), 1j, {1}, b"x"]}, []),
}


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("kind", FACTS)
def test_tensors_of_every_kind_are_told_and_clean(tmp_path: Path, kind: str, zipped: bool) -> None:
    make, expected = FACTS[kind]
    scan = saved(tmp_path, make(), _use_new_zipfile_serialization=zipped)
    assert (list(scan.facts), scan.tensors, scan.problems) == (expected, len(expected), ())


@pytest.mark.parametrize(
    ("make", "used"),
    [
        (lambda: {"z": base()[:10], "y": base()[:1]}, "z uses 40 of 4,194,304 bytes, y uses 4 of 4,194,304 bytes"),
        (lambda: {"z": base().view(1024, 1024)[:, :3]}, "z uses 12,288 of 4,194,304 bytes"),
        (lambda: (lambda whole: [whole[:10], whole[-10:]])(base()), "[0] uses 80 of 4,194,304 bytes"),
    ],
    ids=["slices", "columns", "both ends"],
)
def test_a_small_view_saved_with_its_whole_storage_is_a_warning(
    tmp_path: Path, make: Callable[[], Any], used: str
) -> None:
    (problem,) = saved(tmp_path, make()).problems
    assert (problem.name, problem.severity) == ("oversized-view", Severity.WARNING)
    assert problem.observed.partition(": ")[2] == used


@pytest.mark.parametrize(
    "make",
    [
        lambda: base()[:10].clone(),
        lambda: base()[: 1 << 19],  # half of it
        lambda: list(torch.split(base(), 1000)),
        lambda: torch.zeros(1000)[:1],  # a waste that harms nobody
        lambda: (lambda whole: [whole[:10], whole])(base()),
        lambda: base().view(1024, 1024).t(),
        lambda: (lambda whole: [whole.untyped_storage(), whole[:10].view(torch.uint8)])(base().byte()),
    ],
    ids=["clone", "half", "all pieces", "small", "whole too", "transposed", "storage too"],
)
def test_storages_that_are_used_are_silent(tmp_path: Path, make: Callable[[], Any]) -> None:
    assert saved(tmp_path, make()).problems == ()


def test_a_plain_tensor_that_requires_grad_is_a_warning_and_its_detached_twin_is_not(tmp_path: Path) -> None:
    leaf = torch.zeros(3, requires_grad=True)
    (problem,) = saved(tmp_path, {"z": leaf * 2, "w": torch.nn.Parameter(leaf)}).problems
    assert (problem.name, problem.severity, problem.observed) == (
        "requires-grad",
        Severity.WARNING,
        "1 tensor saved with requires_grad=True (z)",
    )
    assert saved(tmp_path, {"z": (leaf * 2).detach(), "w": torch.nn.Parameter(leaf)}).problems == ()


def test_only_the_first_tensors_are_described_and_all_are_counted(tmp_path: Path) -> None:
    scan = saved(tmp_path, [torch.zeros(1) for _ in range(300)])
    assert (len(scan.facts), scan.tensors, scan.facts[63].key) == (64, 300, "[63]")


def test_a_tensor_that_names_its_device_itself_is_found(tmp_path: Path) -> None:
    class OnXla:
        def __reduce__(self) -> Any:
            function = torch._utils._rebuild_device_tensor_from_cpu_tensor
            return function, (torch.zeros(3), torch.float32, "xla:0", False)

    scan = saved(tmp_path, {"latent": OnXla()})
    assert [problem.observed for problem in scan.problems] == ["1 storage tagged xla:0 (key latent)"]
    assert sorted(scan.devices) == ["cpu", "xla:0"]
    assert scan.tensors == 1


def test_plain_values_of_the_standard_library_are_a_warning_since_torch_refuses_them(tmp_path: Path) -> None:
    value = {
        "when": datetime.datetime(2026, 1, 1),
        "groups": collections.defaultdict(list),
        "path": pathlib.PurePosixPath("/a"),
        "args": argparse.Namespace(lr=0.1),
        "random": np.random.default_rng(1),
        "state": np.random.get_state(),
    }
    (problem,) = saved(tmp_path, value).problems
    assert (problem.name, problem.severity) == ("not-weights-only", Severity.WARNING)
    with pytest.raises(Exception, match="Weights only load failed"):
        torch.load(tmp_path / "sample.pt", weights_only=True)


def test_what_a_training_state_holds_is_clean(tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    scan = saved(
        tmp_path,
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "rng": torch.get_rng_state(),
            "step": 12,
            "losses": [0.5] * 1000,
            "loss": np.float32(0.5),
            "counter": collections.Counter("abc"),
        },
    )
    assert scan.problems == ()
    assert [fact.key for fact in scan.facts][:4] == [
        "model.weight",
        "model.bias",
        "optimizer.state[0].step",
        "optimizer.state[0].exp_avg",
    ]


def test_all_that_torch_allows_by_itself_is_safe_here() -> None:
    from torch._weights_only_unpickler import _get_allowed_globals

    from diagnostics.cache.pickles.globals import SAFE_GLOBALS

    assert set(_get_allowed_globals()) - SAFE_GLOBALS == set()


def test_a_class_of_a_project_is_an_error_with_its_name_and_place(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    torch.save(torch.nn.Linear(2, 2), buffer)
    (tmp_path / "sample.pt").write_bytes(buffer.getvalue())
    scan = scan_file(str(tmp_path / "sample.pt"))
    assert [problem.observed for problem in scan.problems] == [
        "loading it would import torch.nn.modules.linear.Linear (byte 2)"
    ]
    assert [fact.key for fact in scan.facts] == ["weight", "bias"]
