"""Two ranks of the trainer compute what one process computes: one call of `ups-doctor parity` for each stage."""

from __future__ import annotations

import sys
from pathlib import Path

from small_run import write_config, write_data

from diagnostics.machine.this import open_machine
from diagnostics.parity.engine import run_parity
from diagnostics.parity.request import Form, ParityRequest


def test_both_stages_compute_the_same_on_two_ranks_ragged_batches_and_noise_included(tmp_path: Path) -> None:
    write_data(tmp_path)
    stage = {"epochs": 3, "batch_size": 13, "lr": 0.003}  # the last batch of an epoch is ragged
    config = write_config(tmp_path, stages={"autoencoder": stage, "operator": stage}, operator={"input_noise": 0.02})
    found = {}
    sharded = ("--set", "training.strategy=fsdp2")
    with open_machine(sys.executable) as machine:
        machine.ranks.warm(for_modules=True)
        for name, stage_name, more in (
            ("autoencoder", "autoencoder", ()),
            ("operator", "operator", ()),
            ("operator, sharded", "operator", sharded),
        ):
            verb = ("parity", str(config), "--steps", "3", "--stage", stage_name, *more)
            argv = (sys.executable, "-m", "ups.doctor_job", *verb)
            request = ParityRequest(form=Form.ADAPTER, name=name, python=sys.executable, argv=argv)
            one = run_parity(request, machine, tmp_path / name, lambda _: None)
            found[name] = (one.exit_code, one.dtype, one.undecided, one.explanations)
    assert found == dict.fromkeys(("autoencoder", "operator", "operator, sharded"), (0, "float64", "", ()))
