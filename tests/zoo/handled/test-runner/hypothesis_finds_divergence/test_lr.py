import math

import hypothesis
import pytest
import torch
from hypothesis import given, settings, strategies as st

torch.set_num_threads(1)


def train(lr, steps=20):
    torch.manual_seed(0)
    weight = torch.nn.Parameter(torch.ones(3))
    opt = torch.optim.SGD([weight], lr=lr)
    for step in range(steps):
        loss = weight.pow(2).sum()
        if loss.item() > 1e4:
            raise FloatingPointError(f"diverged at step {step}")
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def diverges(lr):
    try:
        train(lr)
    except FloatingPointError:
        return True
    return False


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(st.floats(1e-4, 0.9))
def test_small_rates_are_stable(lr):
    assert math.isfinite(train(lr))


def test_there_is_a_rate_that_diverges():
    lr = hypothesis.find(st.floats(0.01, 10), diverges, settings=settings(derandomize=True, database=None, deadline=None))
    with pytest.raises(FloatingPointError):
        train(lr)


def test_property_is_false_above_two():
    @settings(max_examples=20, deadline=None, derandomize=True, database=None)
    @given(st.floats(2.5, 9))
    def stable(lr):
        train(lr)

    with pytest.raises(FloatingPointError):
        stable()
