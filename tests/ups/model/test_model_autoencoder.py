"""What the autoencoder promises: tokens that move with the field, and values at any point."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from ups.config import LatentConfig
from ups.errors import ConfigError
from ups.models.autoencoder import FieldAutoencoder
from ups.models.decoder import surrounding_tokens
from ups.models.patches import cell_centres, patchify

SMALL = LatentConfig(dim=6, patch=4, hidden_dim=16, depth=2, num_heads=2)


def autoencoder(grid=(32,), fields=("u",), *, periodic=True, channels=1, config=SMALL):
    torch.manual_seed(0)
    module = FieldAutoencoder(config, grid=grid, channels=channels, fields=fields, periodic=periodic)
    with torch.no_grad():
        for value in module.parameters():
            value.add_(0.05 * torch.randn_like(value))
    return module.eval()


@pytest.mark.parametrize(("grid", "periodic", "channels"), [((32,), True, 1), ((24, 16), False, 2), ((4,), True, 1)])
def test_a_field_becomes_tokens_and_a_field_again(grid, periodic, channels):
    module = autoencoder(grid, periodic=periodic, channels=channels)
    u = torch.randn(3, *grid, channels)
    z = module.encode(u)
    assert z.shape == (3, torch.Size(module.token_grid).numel(), 6)
    assert module.decode_grid(z).shape == u.shape
    assert torch.equal(module(u, module.points_QE), module.decode_grid(z).flatten(1, -2))


def test_patches_keep_the_order_of_tokens_and_cells():
    u = torch.arange(16.0).reshape(1, 4, 4, 1)
    assert patchify(u, 2).tolist() == [[[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]]
    assert cell_centres((2, 2)).tolist() == [[0.25, 0.25], [0.25, 0.75], [0.75, 0.25], [0.75, 0.75]]


def test_moving_a_periodic_field_by_a_patch_moves_tokens_and_reconstruction():
    module = autoencoder()
    u = torch.randn(2, 32, 1)
    z = module.encode(u)
    torch.testing.assert_close(module.encode(u.roll(8, dims=1)), z.roll(2, dims=1), rtol=0, atol=1e-5)
    torch.testing.assert_close(
        module.decode_grid(z.roll(2, dims=1)), module.decode_grid(z).roll(8, dims=1), rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("periodic", [True, False])
def test_the_decoded_field_is_continuous_where_the_surrounding_tokens_change(periodic):
    module = autoencoder(periodic=periodic)
    z = torch.randn(1, 8, 6)
    seams = (torch.arange(8) + 0.5) / 8  # at a token's centre one neighbour leaves and another comes
    left, right = (module.decode(z, (seams + side)[:, None]) for side in (-1e-6, 1e-6))
    assert (left - right).abs().max() < 1e-3


def test_on_a_periodic_domain_the_field_is_continuous_across_the_seam():
    module = autoencoder()
    z = torch.randn(1, 8, 6)
    first, last = module.decode(z, torch.tensor([[0.0], [1.0]]))[0]
    assert (first - last).abs().max() < 1e-5


def test_points_are_decoded_one_by_one_as_together():
    module = autoencoder((16, 16), periodic=False)
    z, points = torch.randn(2, 16, 6), torch.rand(5, 2)
    one_by_one = torch.cat([module.decode(z, point[None]) for point in points], dim=1)
    torch.testing.assert_close(module.decode(z, points), one_by_one, rtol=0, atol=1e-5)


def test_the_surrounding_tokens_of_a_point_wrap_around_or_stop_at_the_edge():
    point = torch.tensor([[0.01]])
    ring, weights = surrounding_tokens(point, (8,), periodic=True)[::2]
    edge = surrounding_tokens(point, (8,), periodic=False)[0]
    assert (ring.tolist(), edge.tolist()) == ([[7, 0]], [[0, 1]])
    assert weights.sum().item() == pytest.approx(1)


def test_a_batch_of_mixed_fields_equals_each_field_by_itself():
    module = autoencoder((8, 8), fields=("a", "u"), periodic=False)
    u, field = torch.randn(2, 8, 8, 1), torch.tensor([0, 1])
    together = module(u, module.points_QE, field)
    apart = torch.cat([module(u[place : place + 1], module.points_QE, place) for place in (0, 1)])
    torch.testing.assert_close(together, apart, rtol=0, atol=1e-5)
    assert not torch.allclose(module.encode(u, 0), module.encode(u, 1))


@pytest.mark.parametrize("periodic", [True, False])
def test_every_parameter_gets_a_gradient_even_of_a_field_that_a_batch_lacks(periodic):
    module = autoencoder((8, 8), fields=("a", "u"), periodic=periodic)
    u = torch.randn(2, 8, 8, 1)
    module(u, module.points_QE, torch.zeros(2, dtype=torch.long)).square().sum().backward()
    assert [name for name, value in module.named_parameters() if value.grad is None] == []


@pytest.mark.slow
def test_encoder_and_decoder_compile_into_one_graph():
    module = autoencoder((8, 8), fields=("a", "u"), periodic=False)
    u, field = torch.randn(2, 8, 8, 1), torch.tensor([0, 1])
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(
        compiled(u, module.points_QE, field), module(u, module.points_QE, field), rtol=0, atol=1e-5
    )


def test_a_short_training_reproduces_a_wave_at_and_between_the_cells():
    torch.manual_seed(0)
    module = FieldAutoencoder(SMALL, grid=(32,), channels=1, fields=("u",), periodic=True)
    optimizer = torch.optim.AdamW(module.parameters(), 5e-3)
    phase, x = torch.rand(64, 1), module.points_QE[:, 0]
    u = torch.sin(2 * torch.pi * (x + phase)).unsqueeze(-1)
    for _ in range(200):
        optimizer.zero_grad()
        (module(u, module.points_QE) - u).square().mean().backward()
        optimizer.step()
    between = x + 0.5 / 32
    error = module(u, between[:, None] % 1) - torch.sin(2 * torch.pi * (between + phase)).unsqueeze(-1)
    assert (module(u, module.points_QE) - u).square().mean().sqrt() < 0.05
    assert error.square().mean().sqrt() < 0.1


@pytest.mark.parametrize(
    ("changes", "grid", "message"),
    [
        ({}, (30,), "latent.patch 4 does not divide the grid of 30 cells"),
        ({}, (16, 18), "latent.patch 4 does not divide the grid of 16 x 18 cells"),
        ({"patch": 0}, (32,), "latent.patch is 0; it is the cells along each axis of one token, 1 or more"),
        ({"num_heads": 3}, (32,), "latent.num_heads 3 does not divide latent.hidden_dim 16"),
        ({"depth": 0}, (32,), "latent.dim 6 and latent.depth 0 must be 1 or more"),
        ({}, (8, 8, 8), "the data has 3 space axes; the models here take 1 or 2"),
    ],
)
def test_a_configuration_that_does_not_fit_says_so_in_one_sentence(changes, grid, message):
    settings = {name: getattr(SMALL, name) for name in SMALL.__slots__} | changes
    with pytest.raises(ConfigError) as caught:
        autoencoder(grid, config=LatentConfig(**settings))
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("grid", "dim", "periodic"), [((32,), 4, True), ((32,), 6, True), ((8, 12), 20, False), ((8, 8), 20, True)]
)
def test_exact_latents_reconstruct_every_cell_before_any_training_and_train_with_all_their_weights(grid, dim, periodic):
    config = LatentConfig(dim=dim, patch=4, hidden_dim=16, depth=1, num_heads=2, exact=True)
    model = FieldAutoencoder(config, grid=grid, channels=1, fields=("u",), periodic=periodic)
    u = torch.randn(3, *grid, 1)
    again = model.decode_grid(model.encode(u))
    assert (again - u).abs().max() < 1e-4
    again.square().mean().backward()
    assert all(weight.grad is not None for weight in model.parameters())
    with pytest.raises(ConfigError, match=r"latent\.exact needs latent.dim of at least"):
        FieldAutoencoder(dataclasses.replace(config, dim=3), grid=grid, channels=1, fields=("u",), periodic=periodic)
