"""What a hypothesis says of the numbers: the cause, and why it is that and nothing else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A cause that the numbers show. `factor` is by how much: "2 = number of ranks"; `where` a file:line."""

    code: str
    name: str
    sentence: str
    proof: tuple[str, ...]
    fix: str
    factor: str = ""
    where: str = ""
    proven: bool = True
    step: int = 0
    note: bool = False  # worth knowing, and no difference: what is computed agrees
