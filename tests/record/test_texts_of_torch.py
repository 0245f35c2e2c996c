"""The texts of torch that verdicts rest on stand in the torch that is installed, word for word.

`TORCH=/path/to/site-packages/torch pytest tests/record/test_texts_of_torch.py` asks another version.
"""

from __future__ import annotations

import os
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from diagnostics.diagnosis.launch import port_taken, rendezvous_incomplete, shared_memory_exhausted
from diagnostics.diagnosis.storage import checkpoint_does_not_fit, cuda_tensors_on_disk, file_cut_short
from diagnostics.diagnosis.wrapper import parameters_without_gradient
from diagnostics.dynamic.failures import root_exception
from diagnostics.record import launcher_log, torch_messages

LIBRARIES = ("libtorch_cpu.so", "libtorch_python.so", "libc10.so")
# What torch writes, with { } around what it fills in and where its source breaks a line; and what reads it.
TEXTS = [
    ("Connection closed by peer {[127.0.0.1]:4242}", torch_messages.CONNECTION_LOST),
    ("recvValue failed on {SocketImpl(fd=3)}: {Connection reset by peer}", torch_messages.LOST_PEER),
    ("Timed out waiting {1800000}ms for recv operation to complete", torch_messages.RAN_OUT),
    ("wait timeout after {5000}ms, keys: {/worker/1}", torch_messages.RAN_OUT),
    ("Timeout waiting for key: {store_based_barrier_key:1}", torch_messages.RAN_OUT),
    ("Socket Timeout", torch_messages.RAN_OUT),
    ("Rank {0 timed out: rank 1} failed to pass monitoredBarrier{ in 5000 ms}", torch_messages.RAN_OUT),
    ("{0}op.preamble.length <= op.nbytes{. 40 vs 24}", torch_messages._FOUND_A_FAULT),
    ("Detected mismatch between collectives{ on ranks}", torch_messages._FOUND_A_FAULT),
    ("{3}/{4}{ clients joined}", rendezvous_incomplete.JOINED),
    ("Timed out after {61} seconds waiting for clients. {1}/{2} clients joined.", rendezvous_incomplete.INCOMPLETE),
    ("The server socket has failed to listen{ on port 1: EADDRINUSE}", port_taken.IN_TORCH),
    ("EADDRINUSE", port_taken.TAKEN),
    ("Expected to have finished reduction in the prior iteration", parameters_without_gradient.UNFINISHED),
    ("Parameter indices which did not receive grad for rank {1}: {3 4}", parameters_without_gradient.INDICES),
    ("Parameters which did not receive grad for rank {1}: {head.weight}", parameters_without_gradient.NAMES),
    ("Missing key(s) in state_dict: {head.weight}", checkpoint_does_not_fit.MISSING),
    ("Unexpected key(s) in state_dict: {head.weight}", checkpoint_does_not_fit.UNEXPECTED),
    (
        "size mismatch for {head.weight}: copying a param with shape {torch.Size([2, 4])} from checkpoint, {}"
        "the shape in current model is {torch.Size([3, 4])}",
        checkpoint_does_not_fit.SIZES,
    ),
    (
        "loaded state dict contains a parameter group {}that doesn't match the size of optimizer's group",
        checkpoint_does_not_fit.MISFIT,
    ),
    ("loaded state dict has a different number of parameter groups", checkpoint_does_not_fit.MISFIT),
    ("failed finding central directory", file_cut_short.CUT),
    ("unexpected EOF, expected {12} more bytes", file_cut_short.CUT),
    (
        "unable to mmap {400} bytes from file <{/torch_1_2}>: {Cannot allocate memory (12)}",
        shared_memory_exhausted.EXHAUSTED,
    ),
    ("insufficient shared memory", shared_memory_exhausted.EXHAUSTED),
    ("Attempting to deserialize object on {a CUDA} device{}", cuda_tensors_on_disk.ON_CUDA),
    ("Caught {ValueError} {in DataLoader worker process 1}", root_exception.IN_WORKER),
    ("-- Process {1} terminated with the following error:", root_exception.IN_CHILD),
    ("Sending process {12} closing signal {SIGTERM}", launcher_log._CLOSING),
]


def _constant(text: str) -> list[str]:
    """The parts of a text that torch does not fill in and that are long enough to mean something."""
    return [part for part in re.split(r"\{[^{}]*\}", text) if len(part.strip()) > 6]


@pytest.fixture(scope="module")
def texts_of_torch() -> str:
    """Each of the parts that stands in the sources or libraries of torch; one pass over them with grep."""
    spec = find_spec("torch")
    folder = Path(os.environ.get("TORCH") or Path(spec.origin).parent)
    parts = sorted({part for text, _ in TEXTS for part in _constant(text)}, key=len, reverse=True)
    libraries = [str(folder / "lib" / name) for name in LIBRARIES if (folder / "lib" / name).exists()]
    found = []
    for where in (["-a", *libraries], ["-r", "--include=*.py", str(folder)]):
        for some in (parts[::2], parts[1::2]):  # grep gives the longest of those that begin at one place
            command = ["grep", "-ohF", *(f"-e{part}" for part in some), *where]
            found.append(subprocess.run(command, capture_output=True, text=True, errors="replace").stdout)
    return "\n".join(found)


@pytest.mark.parametrize(("text", "reader"), TEXTS, ids=[text[:40] for text, _ in TEXTS])
def test_what_reads_a_text_reads_what_this_torch_writes(text, reader, texts_of_torch):
    assert reader.search(text.replace("{", "").replace("}", ""))
    assert [part for part in _constant(text) if part not in texts_of_torch] == []


def test_a_text_that_no_torch_writes_is_missed(texts_of_torch):
    assert "The all-reduce has gone for lunch" not in texts_of_torch
