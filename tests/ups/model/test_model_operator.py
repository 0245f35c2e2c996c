"""What pdet_unet promises: persistence at the start, exact windows, no token or channel out of its place."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from ups.config import OperatorConfig
from ups.errors import ConfigError
from ups.models import build_operator
from ups.models.attention import ChannelSeparatedAttention
from ups.models.windows import Windows

SMALL = OperatorConfig(hidden_dim=16, depths=(2, 2), group_size=8, num_heads=2, window=4)


def operator(config=SMALL, token_grid=(16,), *, periodic=True, awake=True):
    """Returns an operator; `awake` replaces the zeros of its start by numbers, so that everything matters."""
    torch.manual_seed(0)
    module = build_operator(config, latent_dim=6, token_grid=token_grid, periodic=periodic)
    if awake:
        with torch.no_grad():
            for value in module.parameters():
                value.add_(0.1 * torch.randn_like(value))
    return module.eval()


def inputs(tokens, batch=2):
    torch.manual_seed(1)
    return torch.randn(batch, tokens, 6), torch.randn(batch, 3)


def test_an_untrained_operator_is_persistence():
    z, cond = inputs(16)
    assert torch.equal(operator(awake=False)(z, cond), z)


@pytest.mark.parametrize(
    ("token_grid", "window", "periodic"),
    [((16,), 4, True), ((13,), 4, False), ((13,), 4, True), ((3,), 8, True), ((8, 8), 4, False), ((5, 7), 3, False)],
)
def test_every_token_grid_is_taken_and_every_parameter_gets_a_gradient(token_grid, window, periodic):
    module = operator(replace(SMALL, window=window), token_grid, periodic=periodic).train()
    z, cond = inputs(torch.Size(token_grid).numel())
    module(z, cond).square().sum().backward()
    without = [name for name, value in module.named_parameters() if value.grad is None or not value.grad.any()]
    assert without == []


def test_all_parameters_belong_to_the_graph_at_the_very_start_too():
    module = operator(awake=False)
    module(*inputs(16)).sum().backward()
    assert [name for name, value in module.named_parameters() if value.grad is None] == []


def test_on_a_periodic_domain_moving_the_input_moves_the_output():
    module = operator()
    z, cond = inputs(16)
    steps = 8  # a whole window of 4 tokens at each of two levels
    moved = module(z.roll(steps, dims=1), cond)
    torch.testing.assert_close(moved, module(z, cond).roll(steps, dims=1), rtol=0, atol=2e-5)


def test_one_window_over_a_periodic_axis_is_moved_by_every_step():
    module = operator(replace(SMALL, depths=(2,), window=16))
    z, cond = inputs(16)
    torch.testing.assert_close(module(z.roll(3, dims=1), cond), module(z, cond).roll(3, dims=1), rtol=0, atol=2e-5)


def test_with_edges_moving_the_input_does_not_move_the_output():
    module = operator(periodic=False)
    z, cond = inputs(16)
    assert (module(z.roll(8, dims=1), cond) - module(z, cond).roll(8, dims=1)).abs().max() > 1e-3


def attention(token_grid=(8,), *, window=4, shifted=True, periodic=False, hidden_dim=8, group_size=8):
    torch.manual_seed(2)
    return ChannelSeparatedAttention(
        hidden_dim=hidden_dim,
        group_size=group_size,
        num_heads=2,
        token_grid=token_grid,
        window=window,
        shifted=shifted,
        periodic=periodic,
    )


def seen_by(layer, token, token_grid):
    """Returns the flat numbers of the tokens whose input changes the output of `token`."""
    torch.manual_seed(3)
    x = torch.randn(1, *token_grid, 8, requires_grad=True)
    layer(x).flatten(1, -2)[0, token].sum().backward()
    return x.grad.flatten(1, -2)[0].abs().sum(-1).nonzero().flatten().tolist()


@pytest.mark.parametrize(
    ("token", "shifted", "periodic", "expected"),
    [
        (0, False, False, [0, 1, 2, 3]),
        (3, True, False, [2, 3, 4, 5]),
        (0, True, False, [0, 1]),
        (7, True, False, [6, 7]),
        (0, True, True, [0, 1, 6, 7]),
    ],
)
def test_a_rolled_window_shows_a_token_its_neighbours_and_never_the_other_edge(token, shifted, periodic, expected):
    assert seen_by(attention(shifted=shifted, periodic=periodic), token, (8,)) == expected


def test_in_two_dimensions_each_axis_is_kept_apart_at_its_own_edge():
    corner = seen_by(attention((4, 4), window=2), 0, (4, 4))
    middle = seen_by(attention((4, 4), window=2), 5, (4, 4))
    assert (corner, middle) == ([0], [5, 6, 9, 10])


@pytest.mark.parametrize("shifted", [False, True])
def test_padding_of_a_window_that_does_not_divide_the_tokens_is_never_seen(shifted):
    layer = attention((6,), shifted=shifted)
    x = torch.randn(1, 6, 8)
    alone = attention((6,), window=6, shifted=False)
    alone.load_state_dict(layer.state_dict() | {"bias_NR": torch.zeros(2, 11)})
    with torch.no_grad():
        layer.bias_NR.zero_()
        last = layer.windows.partition(torch.arange(6.0).reshape(1, 6, 1))[0, -1, :, 0].tolist()
        real = [4, 5] if not shifted else [0, 1]
        # A window of its own over the last real tokens gives what the padded window gives for them.
        small = attention((2,), window=2, shifted=False)
        small.load_state_dict(layer.state_dict() | {"bias_NR": torch.zeros(2, 3)})
        torch.testing.assert_close(layer(x)[:, real], small(x[:, real]), rtol=0, atol=1e-6)
    assert last[2:] == [0.0, 0.0]


def test_groups_of_channels_do_not_see_each_other():
    layer = attention(hidden_dim=16, group_size=8)
    x = torch.randn(1, 8, 16, requires_grad=True)
    layer(x)[..., :8].sum().backward()
    assert (x.grad[..., :8].abs().sum() > 0, x.grad[..., 8:].abs().sum() == 0) == (True, True)


@pytest.mark.parametrize("token_grid", [(7,), (12,), (5, 6)])
@pytest.mark.parametrize("periodic", [False, True])
def test_windows_give_back_what_they_took(token_grid, periodic):
    windows = Windows(token_grid, 4, shifted=True, periodic=periodic)
    x = torch.randn(2, *token_grid, 3)
    assert torch.equal(windows.merge(windows.partition(x)), x)


def test_the_time_and_the_parameter_change_the_prediction():
    module = operator()
    z, cond = inputs(16)
    changes = [(module(z, cond + shift) - module(z, cond)).abs().max().item() > 1e-4 for shift in torch.eye(3)]
    assert changes == [True, True, True]


def test_noise_on_the_latents_is_for_training_only():
    module = operator(replace(SMALL, input_noise=0.1))
    z, cond = inputs(16)
    assert torch.equal(module(z, cond), module(z, cond))
    module.train()
    assert not torch.equal(module(z, cond), module(z, cond))


@pytest.mark.slow
@pytest.mark.parametrize(("token_grid", "periodic"), [((13,), False), ((4, 6), False)])
def test_the_whole_operator_compiles_into_one_graph(token_grid, periodic):
    module = operator(token_grid=token_grid, periodic=periodic)
    z, cond = inputs(torch.Size(token_grid).numel())
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(z, cond), module(z, cond), rtol=0, atol=1e-5)


def test_bfloat16_autocast_stays_close_to_float32():
    module = operator()
    z, cond = inputs(16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        low = module(z, cond)
    assert (low.float() - module(z, cond)).abs().max() < 0.2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"depths": ()}, "operator.depths [] must name one or more levels of 1 or more layers"),
        ({"depths": (2, 0)}, "operator.depths [2, 0] must name one or more levels of 1 or more layers"),
        ({"window": 1}, "operator.window is 1; a window holds 2 tokens along each axis, or more"),
        ({"depths": (1,) * 6}, "operator.depths has 6 levels, but 16 tokens merge only 4 times"),
    ],
)
def test_a_configuration_that_does_not_fit_says_so_in_one_sentence(changes, message):
    with pytest.raises(ConfigError) as caught:
        operator(replace(SMALL, **changes))
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("architecture", "message"),
    [
        ("pdet_unit", "operator.architecture 'pdet_unit' is unknown; did you mean 'pdet_unet'?"),
        ("zzz", "operator.architecture 'zzz' is unknown; known: pdet_stack, pdet_unet"),
        ("torch.nn:Linaer", "operator.architecture torch.nn:Linaer: torch.nn has no 'Linaer'; did you mean 'Linear'?"),
        ("nowhere.at_all:X", "operator.architecture nowhere.at_all:X cannot be imported: No module named 'nowhere'"),
        ("no/file.py:X", "operator.architecture no/file.py:X: there is no file no/file.py"),
        (
            "torch.nn:Linear",
            "operator.architecture torch.nn:Linear does not take what an operator is given: "
            "missing a required argument: 'out_features'",
        ),
    ],
)
def test_an_architecture_that_is_not_there_names_the_nearest(architecture, message):
    with pytest.raises(ConfigError) as caught:
        operator(replace(SMALL, architecture=architecture))
    assert caught.value.message == message


def test_a_class_in_a_file_of_the_users_own_is_built(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import torch\n\n\n"
        "class Persistence(torch.nn.Module):\n"
        "    def __init__(self, config, *, latent_dim, token_grid, periodic, cond_dim):\n"
        "        super().__init__()\n"
        "        self.told = (latent_dim, token_grid, periodic, cond_dim)\n\n"
        "    def forward(self, z_BSD, cond_BK):\n"
        "        return z_BSD\n"
    )
    module = operator(replace(SMALL, architecture=f"{tmp_path}/mine.py:Persistence"), awake=False)
    assert module.told == (6, (16,), True, 3)


def test_a_function_that_makes_no_module_is_refused(tmp_path):
    (tmp_path / "mine.py").write_text("def build(config, **given):\n    return given\n")
    with pytest.raises(ConfigError) as caught:
        operator(replace(SMALL, architecture=f"{tmp_path}/mine.py:build"))
    assert caught.value.message.endswith("mine.py:build made a dict, not a torch.nn.Module")
