"""The steady stage: its residual is that of the data's own equation, its symmetries map solutions to solutions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from ups.config import SteadyConfig
from ups.data.pde import darcy2d
from ups.models.darcy_residual import relative_residual, residual
from ups.models.steady import SteadySolver
from ups.stages.symmetry import looks_alike, turned

UNITS = SimpleNamespace(mean={"a": (0.5,), "u": (0.1,)}, std={"a": (0.4,), "u": (0.2,)})


@pytest.fixture(scope="module")
def solved():
    a = np.random.default_rng(0).choice([0.1, 1.0], size=(12, 12))
    return torch.from_numpy(a)[None], torch.from_numpy(darcy2d.solve(a, 2.0))[None]


def test_a_solution_leaves_no_residual_and_nothing_else_does(solved):
    a, u = solved
    assert float(relative_residual(a, u, 2.0)) < 1e-10
    assert float(relative_residual(a, torch.zeros_like(u), 2.0)) == pytest.approx(1.0)
    assert float(relative_residual(a, 1.01 * u, 2.0)) == pytest.approx(0.01, rel=1e-6)


def test_the_residual_is_that_of_the_matrix_the_data_is_solved_with(solved):
    a, _ = solved
    u = torch.randn(1, 12, 12, dtype=torch.float64)
    matrix = darcy2d.stiffness(a[0].numpy())
    left, diagonal = residual(a, u, 2.0)
    assert np.allclose(left[0].numpy().ravel(), 2.0 - matrix @ u[0].numpy().ravel())
    assert np.allclose(diagonal[0].numpy().ravel(), matrix.diagonal())


@pytest.mark.parametrize("number", range(8))
def test_a_turned_solution_solves_the_turned_problem(solved, number):
    a, u = (turned(one[..., None], number)[..., 0] for one in solved)
    assert float(relative_residual(a, u, 2.0)) < 1e-10


def test_the_eight_symmetries_are_eight_and_a_longer_axis_keeps_its_place():
    u = torch.arange(9.0).reshape(1, 3, 3, 1)
    assert len({tuple(turned(u, number).flatten().tolist()) for number in range(8)}) == 8
    assert turned(torch.zeros(1, 3, 4, 1), 7).shape == (1, 3, 4, 1)


@pytest.mark.parametrize("grid", [(16, 16), (13, 13), (9, 14)])
def test_a_solver_begins_with_no_flow_and_takes_any_grid(grid):
    solver = SteadySolver(SteadyConfig(hidden_dim=8, levels=3, cycles=2), units=UNITS, forcing=1.0)
    found = solver(torch.randn(2, *grid, 1))
    assert torch.allclose(found * 0.2 + 0.1, torch.zeros(2, *grid, 1), atol=1e-6)


def test_a_coefficient_of_zero_gives_finite_gradients():
    solver = SteadySolver(SteadyConfig(hidden_dim=8, levels=2, cycles=2), units=UNITS, forcing=1.0)
    a = torch.where(torch.rand(2, 8, 8, 1) > 0.5, 0.0, 1.0)
    solver((a - 0.5) / 0.4).square().mean().backward()
    assert all(torch.isfinite(weight.grad).all() for weight in solver.parameters())


class Solutions:
    """A reader of solutions of constant forcing; `edge` is what one edge has that the opposite one has not."""

    def __init__(self, edge=0.0):
        self.edge = edge

    def field(self, sample, name):
        u = darcy2d.solve(np.random.default_rng(sample).choice([0.1, 1.0], size=(8, 8)), 1.0)
        u[0] += self.edge * u.mean()
        return u[..., None]

    def close(self):
        pass


def test_data_are_turned_only_where_they_look_alike_from_all_sides():
    samples = np.arange(60)
    assert looks_alike(Solutions(), samples)
    assert not looks_alike(Solutions(edge=1.0), samples)
