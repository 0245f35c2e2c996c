"""The generators against exact solutions, conservation laws and their own equations."""

from itertools import pairwise

import numpy as np
import pytest

from ups.config import GenerateConfig
from ups.data.pde import advection1d, burgers1d, darcy2d, reacdiff2d
from ups.data.pde.decay import decayed
from ups.data.pde.initial_conditions import draw
from ups.data.recipe import build_recipe
from ups.errors import ConfigError


def recipe(task, parameter=1.0, **changes):
    return build_recipe(task, parameter, GenerateConfig(**({"samples": 4, "resolution": 32, "frames": 5} | changes)))


def test_advection_is_the_initial_condition_shifted():
    made = recipe("advection1d", 0.4, samples=40)
    u = advection1d.solve_samples(made, 0, 40)["tensor"]
    initial = draw([made.generator(sample) for sample in range(40)])
    for frame, time in enumerate(made.times[:-1]):
        expected = initial.evaluate((made.cell_centres - 0.4 * time) % 1)
        np.testing.assert_allclose(u[:, frame], expected, atol=1e-6)


def test_the_drawn_initial_conditions_have_the_frequencies_of_the_recipe():
    initial = draw([np.random.default_rng(seed) for seed in range(4000)])
    selected = (initial.wavenumber > 0).sum(axis=1)
    assert set(selected) == {1, 2}
    assert np.mean(selected == 1) == pytest.approx(0.25, abs=0.03)  # both draws the same mode: 4 of 16
    assert np.mean(initial.absolute) == pytest.approx(0.1, abs=0.02)
    assert np.mean(initial.windowed) == pytest.approx(0.1, abs=0.02)
    assert initial.wavenumber.max() == pytest.approx(2 * np.pi * 8 * 1024 / 1023)


def cole_hopf(x, time, viscosity):
    decay = np.exp(-4 * np.pi**2 * viscosity * time)
    return 4 * np.pi * viscosity * decay * np.sin(2 * np.pi * x) / (2 + decay * np.cos(2 * np.pi * x))


def test_burgers_converges_in_second_order_to_the_cole_hopf_solution():
    nu, errors = 0.05, []
    for cells in (64, 128, 256):
        x = (np.arange(cells) + 0.5) / cells
        start, end = cole_hopf(x, 0.0, nu / np.pi), cole_hopf(x, 2.0, nu / np.pi)
        u = burgers1d.solve(start[None], np.array([0.0, 1.0, 2.0]), nu)
        errors.append(np.abs(u[0, -1] - end).max() / np.abs(end).max())
    assert errors[-1] < 1e-4
    assert all(coarse / fine > 3.5 for coarse, fine in pairwise(errors))


def test_burgers_keeps_the_mean_loses_energy_and_makes_no_new_extremes():
    cells = 256
    initial = draw([np.random.default_rng(seed) for seed in range(6)]).evaluate((np.arange(cells) + 0.5) / cells)
    u = burgers1d.solve(initial, np.linspace(0, 1, 6), 0.001)
    np.testing.assert_allclose(u.mean(axis=2), np.repeat(u.mean(axis=2)[:, :1], 6, axis=1), atol=1e-13)
    assert (np.diff((u**2).sum(axis=2), axis=1) < 0).all()
    # Limited slopes with two Runge-Kutta stages: nothing beyond the initial range but rounding.
    assert (u.max(axis=2) <= u.max(axis=2)[:, :1] + 1e-9).all()
    assert (u.min(axis=2) >= u.min(axis=2)[:, :1] - 1e-9).all()


def test_a_burgers_sample_does_not_depend_on_its_neighbours():
    made = recipe("burgers1d", 0.01, end_time=0.1, frames=3)
    together = burgers1d.solve_samples(made, 0, 3)["tensor"]
    np.testing.assert_array_equal(burgers1d.solve_samples(made, 2, 3)["tensor"][0], together[2])


def test_darcy_of_a_constant_coefficient_is_symmetric_and_near_the_series_solution():
    u = darcy2d.solve(np.ones((64, 64)), 1.0)
    np.testing.assert_allclose(u, u.T, atol=1e-13)
    np.testing.assert_allclose(u, u[::-1], atol=1e-13)
    assert u.max() == pytest.approx(0.0736713 * (65 / 64) ** 2, rel=2e-3)  # the ghost cells lie dx/2 outside


def test_darcy_fields_satisfy_their_equation():
    made = recipe("darcy2d", 2.0)
    fields = darcy2d.solve_samples(made, 0, 4)
    assert set(np.unique(fields["nu"])) == {np.float32(0.1), np.float32(1)}
    for sample in range(4):
        a = darcy2d.coefficient(made, sample)
        residual = darcy2d.stiffness(a) @ darcy2d.solve(a, 2.0).ravel() - 2.0
        assert np.abs(residual).max() < 1e-8
        np.testing.assert_array_equal(fields["nu"][sample], a.astype(np.float32))


def test_the_stiffness_matrix_couples_each_cell_to_its_neighbours_only():
    a = np.random.default_rng(0).uniform(0.1, 1, size=(3, 4))
    dense = darcy2d.stiffness(a).toarray()
    expected = np.zeros((12, 12))
    for i, j in np.ndindex(3, 4):
        for step, cells in (((1, 0), 3), ((-1, 0), 3), ((0, 1), 4), ((0, -1), 4)):
            k, m = i + step[0], j + step[1]
            inside = 0 <= k < 3 and 0 <= m < 4
            other = a[k, m] if inside else a[i, j]
            face = 2 * a[i, j] * other / (a[i, j] + other) * cells**2
            expected[i * 4 + j, i * 4 + j] += face
            if inside:
                expected[i * 4 + j, k * 4 + m] -= face
    np.testing.assert_allclose(dense, expected)


def test_the_decay_of_initial_data_is_the_matrix_exponential():
    from scipy.sparse.linalg import expm_multiply

    stream = np.random.default_rng(1)
    matrix = darcy2d.stiffness(np.where(stream.uniform(size=(12, 12)) > 0.5, 1.0, 0.1))
    start = stream.normal(size=144) + 5
    expected = expm_multiply(-1.75 * matrix, start)
    np.testing.assert_allclose(decayed(matrix, start, 1.75), expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())


def test_time_marched_darcy_keeps_more_of_its_initial_data_the_smaller_the_forcing():
    left = []
    for beta in (0.01, 1.0, 100.0):
        clean = darcy2d.solve_samples(recipe("darcy2d", beta), 0, 4)["tensor"]
        marched = darcy2d.solve_samples(recipe("darcy2d", beta, mode="pdebench"), 0, 4)["tensor"]
        left.append(np.linalg.norm(marched - clean) / np.linalg.norm(marched))
    assert left[0] > 0.02
    assert left[0] > left[1] > left[2]


@pytest.mark.parametrize(
    ("task", "parameter", "changes", "message"),
    [
        ("burgers1d", -1.0, {}, "burgers1d needs Nu above 0, got -1"),
        ("darcy2d", 0.0, {}, "darcy2d needs beta above 0, got 0"),
        ("advection1d", 1.0, {"samples": 0}, "samples must be 1 or more, got 0"),
        ("advection1d", 1.0, {"frames": 1}, "advection1d needs 2 frames and an end time above 0, got 1 and 2"),
        (
            "advection1d",
            1.0,
            {"mode": "pdebench"},
            "mode 'pdebench' exists for darcy2d, advection1d has one mode: clean",
        ),
        ("advection1d", float("nan"), {}, "beta and the end time must be finite numbers, got nan and 2"),
        ("burgers1d", 0.1, {"end_time": float("inf")}, "Nu and the end time must be finite numbers, got 0.1 and inf"),
        ("heat1d", 1.0, {}, "unknown task 'heat1d'"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused(task, parameter, changes, message):
    with pytest.raises(ConfigError) as refused:
        recipe(task, parameter, **changes)
    assert refused.value.message == message


def test_diffusion_alone_decays_each_wave_at_its_own_rate():
    x = (np.arange(16) + 0.5) / 16
    wave = 0.5 + 0.2 * np.cos(2 * np.pi * 2 * x)[:, None] * np.cos(2 * np.pi * 3 * x)[None]
    found = reacdiff2d.solve(wave[None], np.array([0.0, 0.7]), nu=0.02, rho=0.0)[0, 1]
    exact = 0.5 + (wave - 0.5) * np.exp(-0.02 * (2 * np.pi) ** 2 * (4 + 9) * 0.7)
    assert np.abs(found - exact).max() < 1e-12


def test_reaction_alone_is_logistic_growth():
    u = np.linspace(0.05, 0.95, 64).reshape(1, 8, 8)
    found = reacdiff2d.solve(u, np.array([0.0, 0.5, 1.5]), nu=1e-30)[0]
    exact = [u[0] * np.exp(t) / (1 + u[0] * (np.exp(t) - 1)) for t in (0.0, 0.5, 1.5)]
    assert np.abs(found - np.stack(exact)).max() < 1e-12


def test_diffusion_with_reaction_converges_in_second_order_in_time():
    recipe = build_recipe("reacdiff2d", 0.01, GenerateConfig(samples=1, resolution=16, frames=2, end_time=0.8))
    first = reacdiff2d.solve_samples(recipe, 0, 1)["tensor"][:, 0].astype(np.float64)
    ends = [reacdiff2d.solve(first, np.array([0.0, 0.8]), 0.01, longest=0.8 / n)[0, 1] for n in (16, 32, 1024)]
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert 3.8 < errors[0] / errors[1] < 4.2
    assert 0 < ends[-1].min() < ends[-1].max() < 1


def torsion(x):
    """The solution of -(u_xx + u_yy) = 1 on the unit square, u = 0 on its edge, at points x in both directions."""
    m = np.arange(1, 200, 2)
    waves = np.sin(np.pi * m[:, None] * x) / m[:, None]
    return 16 / np.pi**4 * np.einsum("mx,ny,mn->xy", waves, waves, 1 / (m[:, None] ** 2 + m[None] ** 2))


def test_darcy_of_constant_coefficient_converges_in_second_order_on_the_square_its_ghost_cells_end():
    errors, offsets = [], []
    for cells in (8, 16, 32):
        side = 1 + 1 / cells  # u = 0 half a cell outside of the unit square, as PDEBench has it
        found = darcy2d.solve(np.full((cells, cells), 0.5), beta=2.0)
        inside = (np.arange(cells) + 1) / cells / side
        errors.append(np.abs(found - 4 * side**2 * torsion(inside)).max())
        offsets.append(np.abs(found - 4 * torsion((np.arange(cells) + 0.5) / cells)).max())
    assert [errors[0] / errors[1], errors[1] / errors[2]] == pytest.approx([4, 4], rel=0.15)
    assert [offsets[0] / offsets[1], offsets[1] / offsets[2]] == pytest.approx([2, 2], rel=0.2)  # u = 0 on its edge
