"""Data at rest: what libraries say of files that are cut short, of another device, or for another model."""

from __future__ import annotations

from pathlib import Path

import hand_made as made
import pytest

from diagnostics.core.frame import Frame
from diagnostics.diagnosis.crash import object_cannot_be_pickled
from diagnostics.diagnosis.storage import (
    cache_out_of_date,
    checkpoint_does_not_fit,
    cuda_tensors_on_disk,
    file_cut_short,
)
from diagnostics.dynamic.job.job import Job, LoadFailure

ALL = (cache_out_of_date, checkpoint_does_not_fit, cuda_tensors_on_disk, file_cut_short)
IN_TORCH = Frame(file="/x/site-packages/torch/serialization.py", line=1600, function="load")


def loading(text: str, *, file: str = "", path: str = "train.py:2", **fields: object) -> Job:
    one = made.raised(text, path)
    user = made.frames(path)
    raised = made.raised(text, path, path=(IN_TORCH, *user), user_path=user)
    loads = (LoadFailure(at_s=1.9, function="torch.load", file=file, error=one.text, path=user),) if file else ()
    return made.a_job(made.a_process(code=1, raised=(raised,), loads=loads), **fields)


def codes(job: Job) -> list[str]:
    return [module.CODE for module in ALL if module.match(job) is not None]


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
        "OSError: [Errno 22] Invalid argument",
        "EOFError: Ran out of input",
        "_pickle.UnpicklingError: pickle data was truncated",
        "OSError: Unable to synchronously open file (truncated file: eof = 41024, sblock->base_addr = 0)",
        "EOFError: Compressed file ended before the end-of-stream marker was reached",
        "ValueError: Failed to read all data for array. Expected (1000,) = 1000 elements, could only read 492 "
        "elements.",
        "zipfile.BadZipFile: Bad CRC-32 for file 'a'",
    ],
)
def test_a_file_cut_short_is_named(text: str) -> None:
    job = loading(text, file="/job/cache/0.pt")
    assert codes(job) == ["D702"]
    found = file_cut_short.match(job)
    assert found is not None
    assert (found.locations, found.culprit_ranks) == (("train.py:2",), (0,))
    assert "read cache/0.pt" in found.finding.title


def test_invalid_argument_of_something_else_is_no_file_cut_short() -> None:
    job = made.a_job(
        made.a_process(code=1, raised=(made.raised("OSError: [Errno 22] Invalid argument", "train.py:2"),))
    )
    assert codes(job) == []


def test_a_compressed_file_cut_short_is_named_where_it_is_read_by_a_handle() -> None:
    text = "EOFError: Compressed file ended before the end-of-stream marker was reached"
    read = made.a_job(made.a_process(code=1, raised=(made.raised(text, "shards.py:15"),)))
    assert codes(read) == ["D702"]
    asked = made.a_job(made.a_process(code=1, raised=(made.raised("EOFError: EOF when reading a line", "ask.py:2"),)))
    assert codes(asked) == []


def test_an_entry_that_a_checkpoint_lacks_is_the_line_that_looks_it_up(tmp_path: Path) -> None:
    (tmp_path / "resume.py").write_text(
        'def restore(net):\n    state = torch.load("last.pt")\n    net.load_state_dict(state["weights"])\n'
        '\n\ndef rate(name):\n    return {"a": 1}[name]\n'
    )

    def raised(line: int) -> Job:
        error = made.raised("KeyError: 'weights'", f"{tmp_path}/resume.py:{line}")
        return made.a_job(made.a_process(code=1, raised=(error,)), cwd=tmp_path)

    found = checkpoint_does_not_fit.match(raised(3))
    assert found is not None
    assert (found.failure_class, found.locations) == ("corrupt-checkpoint", ("resume.py:3",))
    assert found.finding.title == "Rank 0 could not load a checkpoint: it has no entry 'weights'"
    assert codes(raised(7)) == []


def test_a_load_that_was_repeated_is_no_cause() -> None:
    tried = made.raised("EOFError: Ran out of input", "data.py:4", how=made.ExceptionSource.LOGGED, at_s=0.5)
    job = made.a_job(made.a_process(code=1, raised=(tried, made.raised("ValueError: bad batch", "train.py:40"))))
    assert codes(job) == []


def test_tensors_of_another_device_are_named_with_their_file() -> None:
    text = "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False."
    job = loading(text, file="/job/latents.pt")
    assert codes(job) == ["D701"]
    found = cuda_tensors_on_disk.match(job)
    assert found is not None
    assert found.finding.title == (
        "Rank 0 loaded latents.pt, whose tensors were saved on a CUDA device; here is no GPU"
    )


def test_the_prefix_of_a_wrapper_is_said_to_be_one() -> None:
    text = (
        'RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: "weight", "bias". \n'
        '\tUnexpected key(s) in state_dict: "module.weight", "module.bias". '
    )
    job = loading(text, file="/job/last.pt")
    assert codes(job) == ["D704"]
    found = checkpoint_does_not_fit.match(job)
    assert found is not None
    assert "its keys begin with 'module.'" in found.finding.title


def test_a_cache_that_is_taken_as_it_is_and_does_not_fit_is_named(tmp_path: Path) -> None:
    text = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x16 and 32x8)"
    source = (
        "def latents(path):\n    if path.exists():\n        return torch.load(path)\n    made = encode()\n"
        "    torch.save(made, path)\n    return made\n"
    )
    process = made.a_process(code=1, raised=(made.raised(text, "train.py:9"),))
    job = made.a_job(process, cwd=tmp_path, files={"train.py": source})
    assert codes(job) == ["D703"]
    found = cache_out_of_date.match(job)
    assert found is not None
    assert (found.locations, found.finding.confidence) == (("train.py:3", "train.py:9"), "likely")
    trained = made.a_process(code=1, raised=process.raised, agent=made.agent(steps=12))
    assert codes(made.a_job(trained, cwd=tmp_path)) == []


def test_a_cut_file_of_which_torch_says_that_the_checkpoint_is_corrupted_is_cut_short() -> None:
    text = (
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory. This is an "
        "internal miniz error. There is a high likelihood that your checkpoint file is corrupted."
    )
    assert codes(loading(text, file="/job/cache/0.pt")) == ["D702"]


def test_a_pickled_file_of_a_class_that_is_gone_is_a_stale_cache_and_no_handing_over(tmp_path: Path) -> None:
    text = "AttributeError: Can't get attribute 'WaveSet' on <module 'loader' from 'loader.py'>"
    one = made.a_process(code=1, raised=(made.raised(text, f"{tmp_path}/loader.py:2"),))
    job = made.a_job(one, cwd=tmp_path, files={"loader.py": "import pickle\nwaves = pickle.load(f)\n"})
    found = cache_out_of_date.match(job)
    assert found is not None
    assert (found.finding.code, found.locations) == ("D703", ("loader.py:2",))
    assert object_cannot_be_pickled.match(job) is None
