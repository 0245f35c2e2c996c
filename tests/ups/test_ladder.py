from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ups.config import load_config
from ups.ladder import ladders
from ups.models import build_operator

QUICKSTART = Path(__file__).parents[2] / "configs" / "quickstart.yaml"
LEVELS = ("operator.depths=[2, 2, 4]",)


def test_the_operator_grows_from_one_bare_layer_to_the_whole() -> None:
    config = load_config(QUICKSTART, (*LEVELS, "operator.hidden_dim=64"))
    narrow = ("operator.hidden_dim=32", "operator.num_heads=1")
    bare = "operator.without=[attention, conditioning]"
    assert [(rung.name, rung.overrides) for rung in ladders(config)["operator"]] == [
        ("depths [1], without attention, without conditioning, hidden_dim 32", (bare, "operator.depths=[1]", *narrow)),
        (
            "depths [1], without conditioning, hidden_dim 32",
            ("operator.without=[conditioning]", "operator.depths=[1]", *narrow),
        ),
        ("depths [1], hidden_dim 32", ("operator.depths=[1]", *narrow)),
        (
            "depths [1, 1], without skips, hidden_dim 32",
            ("operator.without=[skips]", "operator.depths=[1, 1]", *narrow),
        ),
        ("depths [1, 1], hidden_dim 32", ("operator.depths=[1, 1]", *narrow)),
        ("depths [1, 1, 1], hidden_dim 32", ("operator.depths=[1, 1, 1]", *narrow)),
        ("depths [2, 2, 2], hidden_dim 32", ("operator.depths=[2, 2, 2]", *narrow)),
        ("depths [2, 2, 4], hidden_dim 32", narrow),
        ("as configured", ()),
    ]


def test_each_rung_of_the_operator_builds_and_has_more_modules_than_the_one_below() -> None:
    rungs = ladders(load_config(QUICKSTART, LEVELS))["operator"]
    counts = []
    for rung in rungs:
        config = load_config(QUICKSTART, (*LEVELS, *rung.overrides)).operator
        counts.append(len(list(build_operator(config, latent_dim=8, token_grid=(32,), periodic=True).modules())))
    assert counts == sorted(counts)
    assert len(set(counts)) >= len(counts) - 1  # the last rung differs in heads alone


def test_the_smallest_configuration_is_its_own_ladder() -> None:
    narrow = ("operator.hidden_dim=32", "operator.num_heads=1", "operator.depths=[1]")
    bare = "operator.without=[attention, conditioning, skips]"
    rungs = ladders(load_config(QUICKSTART, (*narrow, bare)))["operator"]
    assert [rung.name for rung in rungs] == ["as configured"]


def test_an_operator_of_the_users_own_is_not_asked_to_leave_out_parts() -> None:
    own = load_config(QUICKSTART, (*LEVELS, "operator.architecture=package.module:Class"))
    assert not [rung for rung in ladders(own)["operator"] if "without" in "".join(rung.overrides)]


def test_the_autoencoder_grows_in_depth() -> None:
    config = load_config(QUICKSTART, ("latent.depth=3", "latent.hidden_dim=16"))
    assert [rung.name for rung in ladders(config)["autoencoder"]] == ["depth 0", "depth 1", "depth 2", "as configured"]


def test_the_adapter_prints_the_ladder_of_a_configuration() -> None:
    argv = [sys.executable, "-m", "ups.doctor_job", "ladder", str(QUICKSTART), "--set", "operator.depths=[1]"]
    said = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
    rungs = said["models"]["operator"]
    assert rungs[-1] == {"name": "as configured", "overrides": []}
    assert rungs[0]["overrides"][0] == "operator.without=[attention, conditioning]"


@pytest.mark.parametrize("left_out", ["attention", "conditioning", "skips"])
def test_every_parameter_of_an_operator_without_a_part_is_trained(left_out: str) -> None:
    import torch

    config = load_config(QUICKSTART, (f"operator.without=[{left_out}]",)).operator
    operator = build_operator(config, latent_dim=8, token_grid=(32,), periodic=True)
    operator(torch.randn(2, 32, 8), torch.rand(2, 3)).sum().backward()
    assert [name for name, one in operator.named_parameters() if one.grad is None] == []
