"""A MAKE in a file that is a script: what importing it does is told, and never taken for the experiment."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from diagnostics.machine.contract import Machine
from diagnostics.machine.this import open_machine
from diagnostics.parity.engine import run_parity
from diagnostics.parity.request import Form, ParityRequest

MAKE = """\
import argparse
import torch

def make():
    torch.manual_seed(0)
    data = [(torch.randn(8, 3), torch.randn(8, 1))] * 3
    return torch.nn.Linear(3, 1), torch.nn.functional.mse_loss, data

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", {how})
    parser.parse_args()
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()

"""
GUARD = 'keep what runs out of the import: if __name__ == "__main__": main()'


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with open_machine(sys.executable) as opened:
        opened.ranks.warm(for_modules=True)
        yield opened


@pytest.mark.parametrize(
    ("how", "ending", "said"),
    [
        ("default=1", "main()", "16: it takes optimizer steps while it is imported; " + GUARD),
        ("required=True", "main()", "12: 2; " + GUARD),
        ("default=1", "if __name__ == '__main__':\n    main()", ""),
    ],
)
def test_a_script_that_runs_when_it_is_imported_is_refused_and_a_guarded_one_is_compared(
    machine: Machine, tmp_path: Path, how: str, ending: str, said: str
) -> None:
    job = tmp_path / "job.py"
    job.write_text(MAKE.format(how=how) + ending + "\n")
    request = ParityRequest(
        python=sys.executable, argv=(sys.executable,), form=Form.MADE, name="make", make=f"{job}:make", steps=1
    )
    found = run_parity(request, machine, tmp_path / "runs", lambda _: None)
    refused = f"{job}:make: importing {job} raised SystemExit at {job}:{said}" if said else ""
    assert (found.refused, found.exit_code) == (refused, 3 if said else 0)
