"""Whether a module does something else in train than in eval mode: dropout that drops, batch norm that counts."""

from __future__ import annotations

MODAL = ("Dropout", "DropPath", "StochasticDepth", "BatchNorm")
_CHANCES = ("p", "drop_prob", "drop_path", "dropout")


def is_norm(module):
    """Whether it keeps statistics of its input."""
    return "BatchNorm" in type(module).__name__ and getattr(module, "running_mean", None) is not None


def is_modal(module):
    """Whether it does something else in train than in eval mode."""
    name = type(module).__name__
    if not name.endswith(MODAL) and not any(word in name for word in MODAL):
        chance = getattr(module, "dropout", None)  # of recurrent layers and attention it is a number
        return type(chance) is float and chance > 0
    if "BatchNorm" in name:
        return is_norm(module)
    return any(type(getattr(module, one, None)) in (int, float) and getattr(module, one) > 0 for one in _CHANCES)
