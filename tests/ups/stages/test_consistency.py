"""The student's loss, held against a teacher whose paths are known exactly: a standard normal residual.

For r ~ N(0, 1) the best denoiser is D(x, s) = x / (1 + s^2), and its path through x at noise s ends at noise m in
x sqrt((m^2 + 1) / (s^2 + 1)).
"""

from __future__ import annotations

import pytest
import torch

from ups.config import OperatorConfig
from ups.models.denoiser import Denoiser
from ups.models.sampler import heun_step, noise_levels, sample
from ups.stages.consistency import StudentAndTarget, consistency_loss

LEAST, MOST, LEVELS = 0.05, 10.0, 24
SMALL = OperatorConfig(hidden_dim=8, group_size=8, num_heads=2, depths=(1,))


def teacher(x, sigma_B):
    return x / (1 + sigma_B[:, None, None].square())


def end_of_the_path(x, sigma_B):
    sigma = sigma_B[:, None, None]
    return x * ((LEAST**2 + 1) / (sigma**2 + 1)).sqrt()


def no_correction(x, sigma_B):
    return torch.where(sigma_B[:, None, None] > LEAST * 1.0001, torch.zeros_like(x), x)


def loss_of(student):
    torch.manual_seed(0)
    levels = torch.tensor(noise_levels(LEVELS, LEAST, MOST))
    place_B = torch.arange(LEVELS).repeat(1024)
    before_B, after_B = levels[place_B], levels[place_B + 1]
    noisy = torch.randn(len(place_B), 4, 2) * (1 + before_B[:, None, None].square()).sqrt()
    return float(consistency_loss(student, student, teacher, noisy, before_B, after_B).mean())


def denoiser(least=LEAST):
    torch.manual_seed(1)
    made = Denoiser(SMALL, latent_dim=2, token_grid=(4,), periodic=True, least=least)
    for weight in made.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    return made


def test_doing_nothing_costs_more_than_the_ends_of_the_teachers_paths():
    right, nothing = loss_of(end_of_the_path), loss_of(no_correction)
    assert nothing == pytest.approx(1 / LEVELS, rel=0.05)  # all of the residual, at the lowest level alone
    assert right < nothing / 50


def test_a_student_keeps_its_input_at_the_least_noise_whatever_its_weights():
    x, given = torch.randn(3, 4, 2), (torch.randn(3, 4, 2), torch.randn(3, 4, 2), torch.randn(3, 3))
    with torch.no_grad():
        kept = denoiser()(x, torch.full((3,), LEAST), *given)
        free = denoiser(least=0.0)(x, torch.full((3,), LEAST), *given)
    assert torch.equal(kept, x)
    assert not torch.equal(free, x)


def test_the_target_follows_the_student_and_has_no_gradient():
    both = StudentAndTarget(denoiser())
    given = torch.randn(3, 4, 2), torch.ones(3), torch.randn(3, 4, 2), torch.randn(3, 4, 2), torch.randn(3, 3)
    assert not both(*given, of_target=True).requires_grad
    before = [one.clone() for one in both.target.parameters()]
    with torch.no_grad():
        for one in both.student.parameters():
            one.add_(1.0)
    both.follow(0.75)
    moved = [float((now - then).mean()) for now, then in zip(both.target.parameters(), before, strict=True)]
    assert moved == pytest.approx([0.25] * len(moved), rel=1e-5)


def test_few_steps_of_the_sampler_come_to_the_end_of_the_path_and_more_steps_closer():
    torch.manual_seed(2)
    noise = torch.randn(16, 4, 2)
    # The last denoising leads from the least noise to none.
    exact = noise * MOST * (1 / (MOST**2 + 1)) ** 0.5
    errors = [
        float((sample(teacher, noise, noise_levels(steps, LEAST, MOST)) - exact).square().mean().sqrt())
        for steps in (4, 8, 16, 32)
    ]
    assert errors[0] < 0.04
    assert errors[2] < errors[1] / 2.5
    assert errors[3] < errors[2] / 2.5


def test_a_step_of_heun_is_of_third_order_in_its_size():
    x, before = torch.ones(1, 1, 1, dtype=torch.float64), torch.tensor([1.0], dtype=torch.float64)
    errors = []
    for size in (0.1, 0.05):
        after = before - size
        exact = x * ((after**2 + 1) / (before**2 + 1)).sqrt()
        errors.append(float((heun_step(teacher, x, before, after) - exact).abs().max()))
    assert errors[0] / errors[1] == pytest.approx(8, rel=0.2)
