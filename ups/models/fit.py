"""Does the configured model fit the data? Answered in milliseconds, before a folder is made or a rank starts."""

from __future__ import annotations

import numpy as np
import torch

from ups.config import UpsConfig
from ups.data.field_spec import FieldSpec
from ups.data.pde.equations import equation
from ups.errors import ConfigError
from ups.models import build_operator, check_named
from ups.models.autoencoder import FieldAutoencoder

CONDITIONS = 3  # lead time, time, parameter
MOST_TOKENS = 1 << 14  # of a grid that models are only tried on
SHOWN = 4  # names of unused parameters


def check_model(config: UpsConfig, spec: FieldSpec) -> None:
    """Builds both modules and drops them. Raises ConfigError where they do not fit each other.

    Code of the user's is not run here, in the process that starts the ranks: `try_own_operator` does, in a rank.
    Not on the meta device: torch's arithmetic there imports its compiler first, 1.3 s.
    """
    autoencoder = _autoencoder(config, spec)
    if not _is_own(config):
        _operator(config, spec, autoencoder)


def check_without_data(config: UpsConfig) -> None:
    """Raises ConfigError for models that fit no data of the configured equation at all.

    They are built on a grid that suits them: what is wrong about that one is wrong about each.
    """
    check_named(config.operator.architecture)
    known = equation(config.data.task)
    tokens = 2 ** len(config.operator.depths)  # as many as can be merged that often
    if tokens ** len(known.AXES) > MOST_TOKENS:
        return
    cells = tokens * config.latent.patch
    nominal = FieldSpec(
        path=config.data.root,
        task=config.data.task,
        kind=known.KIND,
        samples=1,
        frames=1,
        grid=(cells,) * len(known.AXES),
        channels=known.CHANNELS,
        coordinates=(np.zeros(cells),) * len(known.AXES),
        times=np.zeros(1),
        periodic=known.PERIODIC,
    )
    check_model(config, nominal)


def try_own_operator(config: UpsConfig, spec: FieldSpec) -> None:
    """Builds an operator of the user's own and runs it once: the first stage must not be trained for nothing.

    Raises ConfigError where it cannot be built, gives another shape, or has parameters that nothing trains, and
    whatever the user's code raises.
    """
    if not _is_own(config):
        return
    with torch.device("meta"):
        autoencoder = _autoencoder(config, spec)
    operator, name = _operator(config, spec, autoencoder), f"operator.architecture {config.operator.architecture}"
    z_BSD = torch.randn(2, autoencoder.tokens, config.latent.dim)
    answer = operator(z_BSD, torch.randn(2, CONDITIONS))
    if not torch.is_tensor(answer) or answer.shape != z_BSD.shape:
        found = f"the shape {tuple(answer.shape)}" if torch.is_tensor(answer) else f"a {type(answer).__name__}"
        raise ConfigError(
            f"{name} gives {found} for latents of shape {tuple(z_BSD.shape)}; "
            "it must give latents of the same shape: (batch, tokens, latent.dim)"
        )
    if not answer.requires_grad:
        raise ConfigError(f"{name} gives latents that depend on no trainable parameter: there is nothing to train")
    torch.autograd.backward(answer.sum())
    if unused := [key for key, value in operator.named_parameters() if value.requires_grad and value.grad is None]:
        shown = ", ".join(unused[:SHOWN]) + f" and {len(unused) - SHOWN} more" * (len(unused) > SHOWN)
        raise ConfigError(
            f"{name} has parameters that take no part in its output: {shown}; ranks would wait for their gradients",
            hint="use them, remove them, or switch their gradient off: parameter.requires_grad_(False)",
        )


def _is_own(config: UpsConfig) -> bool:
    return ":" in config.operator.architecture


def _autoencoder(config: UpsConfig, spec: FieldSpec) -> FieldAutoencoder:
    return FieldAutoencoder(
        config.latent, grid=spec.grid, channels=spec.channels, fields=spec.fields, periodic=spec.periodic
    )


def _operator(config: UpsConfig, spec: FieldSpec, autoencoder: FieldAutoencoder) -> torch.nn.Module:
    return build_operator(
        config.operator, latent_dim=config.latent.dim, token_grid=autoencoder.token_grid, periodic=spec.periodic
    )
