"""Divergences of distributions that are given in the wrong form: probabilities where logarithms are read. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Const, Made, OneOf, Value

_DIVERGENCES = frozenset(["torch.nn.functional.kl_div", "torch.kl_div"])
_LAYER = "torch.nn.KLDivLoss"
_PROBABILITIES = frozenset(
    ["torch.softmax", "torch.nn.functional.softmax", "torch.special.softmax", ".softmax", "torch.sigmoid", ".sigmoid",
     "torch.nn.functional.sigmoid", "torch.special.expit", "torch.nn.functional.gumbel_softmax"]
)  # fmt: skip
_LOGARITHMS = frozenset(
    ["torch.log_softmax", "torch.nn.functional.log_softmax", "torch.special.log_softmax", ".log_softmax",
     "torch.nn.functional.logsigmoid"]
)  # fmt: skip
_LAYERS = {
    "torch.nn.Softmax": "probabilities", "torch.nn.Softmax2d": "probabilities", "torch.nn.Sigmoid": "probabilities",
    "torch.nn.LogSoftmax": "logarithms", "torch.nn.LogSigmoid": "logarithms",
}  # fmt: skip
# What leaves the numbers as they are, or nearly so: another type, place, shape or part of them.
_SAME = frozenset(
    [".detach", ".clone", ".contiguous", ".float", ".double", ".half", ".bfloat16", ".to", ".type", ".type_as", ".cuda",
     ".cpu", ".data", ".view", ".reshape", ".flatten", ".squeeze", ".unsqueeze", ".transpose", ".permute", ".t", ".T",
     ".expand", ".clamp", ".clamp_min", "torch.clamp", "[]"]
)  # fmt: skip
_DEPTH = 8


def misread_distributions(execution: Execution) -> Iterator[tuple[Event, str, Made]]:
    """Yields (divergence, what is misread, where that was made) of inputs and targets in the wrong form.

    What is misread: "input", "target" of probabilities read as logarithms, "log target" of logarithms read as
    probabilities.
    """
    for one in execution.events:
        layer = one.owner if isinstance(one.owner, Made) and one.owner.name == _LAYER and one.name == "()" else None
        if one.name not in _DIVERGENCES and layer is None:
            continue
        logs = (layer or one).keywords.get("log_target")
        known = logs is None or (isinstance(logs, Const) and isinstance(logs.value, bool))
        form, made = _form(one.argument(0, "input"))
        if form == "probabilities" and made is not None:
            yield one, "input", made
            continue
        form, made = _form(one.argument(1, "target"))
        if made is not None and known:
            is_log = isinstance(logs, Const) and logs.value is True
            if is_log and form == "probabilities":
                yield one, "target", made
            elif not is_log and form == "logarithms":
                yield one, "log target", made


def _form(value: Value | None, depth: int = _DEPTH) -> tuple[str, Made | None]:
    """Returns "probabilities" or "logarithms", where a value surely is such, and what made it so."""
    for _ in range(depth):
        if isinstance(value, OneOf):
            found = [_form(one, depth - 1) for one in value.options]
            return found[0] if len({form for form, _ in found}) == 1 else ("", None)
        if not isinstance(value, Made):
            break
        if value.name in _PROBABILITIES or value.name in _LOGARITHMS:
            return ("probabilities" if value.name in _PROBABILITIES else "logarithms"), value
        if value.name == "()" and isinstance(value.owner, Made) and value.owner.name in _LAYERS:
            return _LAYERS[value.owner.name], value
        if value.name == "+" and len(value.args) == 2 and isinstance(value.args[1], Const):
            value = value.args[0]  # a small number against the logarithm of 0
        elif value.name in _SAME:
            value = value.owner if value.owner is not None else value.args[0] if value.args else None
        else:
            break
    return "", None
