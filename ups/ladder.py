"""Sizes of a configuration's models, smallest first: on which one does a failure begin? By arithmetic, no torch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ups.config import LatentConfig, OperatorConfig, UpsConfig

NARROW = 4  # channels of one head


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One size. `overrides` are those of the command line that make it of the configuration."""

    name: str  # "depths [1, 1], without skips"
    overrides: tuple[str, ...]


def ladders(config: UpsConfig) -> dict[str, list[Rung]]:
    """Returns the rungs of each stage's model; the last one is the model as it is configured."""
    whole = [Rung(name="as configured", overrides=())]
    operator = _operator(config.operator)
    known = {"autoencoder": _autoencoder(config.latent), "operator": operator}
    known |= {"diffusion": operator, "consistency": operator}  # networks of the operator's architecture
    return {name: known.get(name, whole) for name in config.stages.run}


def _operator(full: OperatorConfig) -> list[Rung]:
    """One layer first; then attention, conditioning, levels, skips, depth, and width and heads at last."""
    own = ":" in full.architecture  # may not know what to leave out
    narrow = replace(full, hidden_dim=full.group_size, num_heads=1)
    sizes: list[tuple[str, OperatorConfig]] = []
    if not own:
        bare = replace(narrow, depths=(1,), without=("attention", "conditioning", *_once(full, "skips")))
        sizes += [
            ("depths [1], without attention, without conditioning", bare),
            ("depths [1], without conditioning", _with(bare, full, "attention")),
        ]
    sizes += [("depths [1]", replace(narrow, depths=(1,)))]
    if not own and len(full.depths) > 1:
        sizes += [("depths [1, 1], without skips", replace(narrow, depths=(1, 1), without=(*full.without, "skips")))]
    sizes += [(f"depths {list(depths)}", replace(narrow, depths=depths)) for depths in _depths(full.depths)]
    return _rungs("operator", sizes, full)


def _depths(full: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yields level after level with one layer each, then more and more layers, up to all."""
    for levels in range(2, len(full) + 1):
        yield (1,) * levels
    most = 2
    while most < max(full):
        yield tuple(min(depth, most) for depth in full)
        most *= 2
    yield full


def _with(bare: OperatorConfig, full: OperatorConfig, part: str) -> OperatorConfig:
    return replace(bare, without=tuple(one for one in bare.without if one != part or one in full.without))


def _once(full: OperatorConfig, part: Any) -> tuple[Any, ...]:
    return (part,) if part in full.without else ()


def _autoencoder(full: LatentConfig) -> list[Rung]:
    narrow = replace(full, hidden_dim=min(full.hidden_dim, NARROW * full.num_heads))
    depths = sorted({0, *(1 << power for power in range(full.depth.bit_length())), full.depth})
    sizes = [(f"depth {depth}", replace(narrow, depth=depth)) for depth in depths if depth <= full.depth]
    return _rungs("latent", sizes, full)


def _rungs(section: str, sizes: list[tuple[str, Any]], full: Any) -> list[Rung]:
    """Returns a rung for each size that is another one, and the whole."""
    rungs: list[Rung] = []
    seen = {full}
    for name, size in sizes:
        if size not in seen:
            seen.add(size)
            narrow = f"{name}, hidden_dim {size.hidden_dim}" if size.hidden_dim != full.hidden_dim else name
            rungs.append(Rung(name=narrow, overrides=tuple(_changes(section, size, full))))
    return [*rungs, Rung(name="as configured", overrides=())]


def _changes(section: str, size: Any, full: Any) -> Iterator[str]:
    for key in ("without", "depths", "depth", "hidden_dim", "num_heads"):
        if getattr(size, key, None) != getattr(full, key, None):
            value = getattr(size, key)
            yield f"{section}.{key}={_text(value)}"


def _text(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)
