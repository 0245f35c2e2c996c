"""What does not fit is refused before the first step: no epoch is trained for nothing, no folder is left claimed."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest
from small_run import ups, write_config, write_data

from ups.config import UpsConfig, load_config
from ups.data.fields import FieldSpec, open_data
from ups.errors import ConfigError
from ups.launch.port import check_port
from ups.launch.run import Request, as_rank, prepare
from ups.models.fit import check_model, try_own_operator
from ups.stages import ORDER

OWN = Path(__file__).parents[2] / "zoo" / "own_operators.py"


def experiment(folder: Path, **changes: object) -> tuple[UpsConfig, FieldSpec]:
    write_data(folder)
    config = load_config(write_config(folder, **changes))
    return config, open_data(config.data)


def request(folder: Path) -> Request:
    path = folder / "small.yaml"
    return Request(config=load_config(path), path=path, overrides=(), stages=ORDER[:2])


def own(folder: Path, name: str) -> tuple[UpsConfig, FieldSpec]:
    return experiment(folder, operator={"architecture": f"{OWN}:{name}"})


@pytest.mark.parametrize(
    ("section", "keys", "message"),
    [
        ("latent", {"patch": 5}, "latent.patch 5 does not divide the grid of 32 cells"),
        ("operator", {"depths": [1] * 6}, "operator.depths has 6 levels, but 8 tokens merge only 3 times"),
        ("operator", {"architecture": "pdet"}, "operator.architecture 'pdet' is unknown; did you mean 'pdet_unet'?"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_before_the_folder_is_made(
    tmp_path: Path, section: str, keys: dict[str, object], message: str
) -> None:
    config, spec = experiment(tmp_path, **{section: keys})
    with pytest.raises(ConfigError) as error:
        check_model(config, spec)
    assert error.value.message == message
    with pytest.raises(ConfigError, match=re.escape(message)):
        prepare(request(tmp_path), 2)
    assert not (tmp_path / "run").exists()


def test_a_model_that_fits_passes(tmp_path: Path) -> None:
    check_model(*experiment(tmp_path))


@pytest.mark.parametrize("name", ["Good", "Switched"])
def test_an_operator_of_the_users_own_passes(tmp_path: Path, name: str) -> None:
    try_own_operator(*own(tmp_path, name))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "OneToken",
            "gives the shape (2, 1, 8) for latents of shape (2, 8, 8); "
            "it must give latents of the same shape: (batch, tokens, latent.dim)",
        ),
        (
            "Pair",
            "gives a tuple for latents of shape (2, 8, 8); "
            "it must give latents of the same shape: (batch, tokens, latent.dim)",
        ),
        (
            "Unused",
            "has parameters that take no part in its output: forgotten.weight, forgotten.bias; "
            "ranks would wait for their gradients",
        ),
        ("Identity", "gives latents that depend on no trainable parameter: there is nothing to train"),
    ],
)
def test_an_operator_of_the_users_own_with_a_fault_is_named(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        try_own_operator(*own(tmp_path, name))
    assert error.value.message == f"operator.architecture {OWN}:{name} {message}"


@pytest.mark.parametrize(("name", "what"), [("Lost", KeyError), ("Elsewhere", RuntimeError)])
def test_what_the_users_own_code_raises_passes_through(tmp_path: Path, name: str, what: type[Exception]) -> None:
    with pytest.raises(what):
        try_own_operator(*own(tmp_path, name))


def test_a_refused_operator_costs_no_epoch_and_leaves_the_folder_free(tmp_path: Path) -> None:
    own(tmp_path, "Unused")
    done = ups("train", tmp_path / "small.yaml", "--no-preflight")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: operator.architecture {OWN}:Unused has parameters that take no part")
    assert list((tmp_path / "run").iterdir()) == []


def test_a_port_in_use_is_refused_at_once_and_a_free_one_is_not(tmp_path: Path) -> None:
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        port = stranger.getsockname()[1]
        stranger.listen()
        experiment(tmp_path, training={"port": port})
        with pytest.raises(ConfigError) as error:
            prepare(request(tmp_path), 2)
    assert error.value.message == (f"training.port {port} is in use by another program: the ranks cannot meet there")
    assert error.value.hint == (
        f"see whose it is: ss -ltnp 'sport = :{port}'; or take a free one: --set training.port=null"
    )
    assert not (tmp_path / "run").exists()
    check_port(port)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("RANK", "abc", "RANK is 'abc'"),
        ("WORLD_SIZE", "two", "WORLD_SIZE is 'two'"),
        ("WORLD_SIZE", None, "WORLD_SIZE is not set"),
    ],
)
def test_a_launchers_variable_that_makes_no_sense_is_named(
    tmp_path: Path, name: str, value: str | None, message: str
) -> None:
    experiment(tmp_path)
    environ = {"RANK": "0", "WORLD_SIZE": "2"} | ({name: value} if value is not None else {})
    if value is None:
        del environ[name]
    with pytest.raises(ConfigError) as error:
        as_rank(request(tmp_path), environ)
    assert error.value.message == f"{message}: ranks are started by `ups train` or torchrun"
    assert not (tmp_path / "run").exists()
