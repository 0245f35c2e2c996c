"""Files that torch itself saved from a real GPU: the tag is found, and gone after a save from the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.cache.scan.one_file import scan_file

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
def test_a_tensor_saved_from_a_gpu_is_found(zipped: bool, tmp_path: Path) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU and a torch built for CUDA")
    on_gpu, on_cpu = tmp_path / "gpu.pt", tmp_path / "cpu.pt"
    tensor = torch.arange(12.0, device="cuda:0")
    torch.save({"z": tensor}, on_gpu, _use_new_zipfile_serialization=zipped)
    torch.save({"z": tensor.cpu()}, on_cpu, _use_new_zipfile_serialization=zipped)
    (problem,) = scan_file(str(on_gpu)).problems
    assert problem.name == "cuda-in-cache"
    assert problem.observed.startswith("1 storage tagged cuda:0 (key ")
    assert scan_file(str(on_cpu)).problems == ()
