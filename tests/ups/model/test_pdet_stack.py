"""What pdet_stack promises: persistence at the start, each wave in its place, sizes that are not normalised away."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from ups.config import OperatorConfig
from ups.errors import ConfigError
from ups.models import build_operator
from ups.models.conditioning import Modulation
from ups.models.fourier_mixing import FourierMixing

SMALL = OperatorConfig(architecture="pdet_stack", hidden_dim=16, depths=(2,), group_size=8, num_heads=2, modes=3)


def operator(config=SMALL, token_grid=(16,), *, periodic=True, awake=True):
    torch.manual_seed(0)
    module = build_operator(config, latent_dim=2, token_grid=token_grid, periodic=periodic)
    if awake:
        with torch.no_grad():
            for value in module.parameters():
                value.add_(0.1 * torch.randn_like(value))
    return module.eval()


def inputs(tokens, batch=2):
    torch.manual_seed(1)
    return torch.randn(batch, tokens, 2), torch.randn(batch, 3)


@pytest.mark.parametrize("periodic", [True, False])
def test_an_untrained_operator_is_persistence(periodic):
    z, cond = inputs(16)
    assert torch.equal(operator(awake=False, periodic=periodic)(z, cond), z)


@pytest.mark.parametrize("token_grid", [(16,), (13,), (1,), (8, 8), (5, 7)])
@pytest.mark.parametrize("periodic", [True, False])
def test_every_token_grid_is_taken_and_every_parameter_gets_a_gradient(token_grid, periodic):
    module = operator(token_grid=token_grid, periodic=periodic).train()
    module(*inputs(torch.Size(token_grid).numel())).square().sum().backward()
    assert [name for name, value in module.named_parameters() if value.grad is None or not value.grad.any()] == []


@pytest.mark.parametrize("without", [("attention",), ("conditioning",), ("attention", "conditioning")])
def test_parts_can_be_left_out(without):
    module = operator(replace(SMALL, without=without))
    left = {type(part) for part in module.modules()}
    assert (FourierMixing in left, Modulation in left) == ("attention" not in without, "conditioning" not in without)
    module(*inputs(16)).sum().backward()
    assert all(value.grad is not None for value in module.parameters())


@pytest.mark.parametrize(("token_grid", "steps"), [((16,), 3), ((6, 8), 2)])
def test_on_a_periodic_domain_moving_the_input_moves_the_output_and_with_edges_it_does_not(token_grid, steps):
    def moved(z):
        axes = range(1, 1 + len(token_grid))
        return z.unflatten(1, token_grid).roll([steps] * len(token_grid), list(axes)).flatten(1, len(token_grid))

    z, cond = inputs(torch.Size(token_grid).numel())
    apart = [(module(moved(z), cond) - moved(module(z, cond))).abs().max() for module in
             (operator(token_grid=token_grid), operator(token_grid=token_grid, periodic=False))]  # fmt: skip
    assert apart[0] < 2e-5
    assert apart[1] > 1e-3


@pytest.mark.parametrize("grid", [(16,), (12, 10), (7, 9)])
def test_waves_longer_than_the_least_go_through_their_own_matrix_and_others_end_there(grid):
    mixing = FourierMixing(1, grid, 3, periodic=True)
    with torch.no_grad():
        mixing.weight.zero_()
        mixing.weight[..., 0] = 1.0  # each kept wave stays what it is
    axes = [torch.arange(size) / size for size in grid]
    x = torch.stack(torch.meshgrid(*axes, indexing="ij"))
    for waves in ((2,) * len(grid), (-2,) + (1,) * (len(grid) - 1), (3,) * len(grid)):
        phase = sum(number * axis for number, axis in zip(waves, x, strict=True))
        u = torch.cos(2 * torch.pi * phase + 0.3)[None, ..., None]
        kept = all(abs(number) < 3 for number in waves)
        torch.testing.assert_close(mixing(u), u if kept else torch.zeros_like(u), rtol=0, atol=1e-5)


def test_half_precision_and_double_are_taken():
    mixing, u = FourierMixing(4, (8,), 3, periodic=True), torch.randn(2, 8, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert mixing(u.bfloat16()).dtype is torch.bfloat16
    double = mixing.double()(u.double())
    torch.testing.assert_close(mixing.float()(u), double.float())


def test_a_field_ten_times_as_large_is_seen_as_such():
    """A layer norm over channels would make both answers alike but for their direction: see the failing twin."""
    stack, unet = (
        operator(replace(SMALL, architecture=name, depths=depths, window=4))
        for name, depths in (("pdet_stack", (1,)), ("pdet_unet", (1,)))
    )
    z, cond = inputs(16)

    @torch.no_grad()
    def growth(module):
        changes = [module(size * z, cond) - size * z for size in (10.0, 100.0)]
        return float(changes[1].norm() / changes[0].norm())

    assert growth(stack) > 8
    assert growth(unet) < growth(stack)


def test_more_than_one_level_is_refused():
    with pytest.raises(ConfigError) as caught:
        operator(replace(SMALL, depths=(1, 1)))
    assert caught.value.message == "operator.depths [1, 1] has 2 levels, and pdet_stack has one"
    assert caught.value.hint == "--set operator.depths=[2]"
