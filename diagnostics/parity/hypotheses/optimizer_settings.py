"""The optimizers of N ranks have other settings than that of one process, such as a learning rate times N.

What it does: compares the settings of each parameter group at each step, where the gradients are the same.

Why it matters: a rate that is multiplied by the number of ranks belongs to a batch that grows with it. On the same
global batch it is another training; a schedule that counts the steps of all ranks is over N times too early.

Fix: derive the rate from the global batch, not from the number of ranks; step the schedule once an optimizer step.
"""

from __future__ import annotations

from diagnostics.parity.hypothesis import Explanation
from diagnostics.parity.measured import Measured

CODE = "Y111"
NAME = "optimizer-settings"


def explain(measured: Measured) -> Explanation | None:
    """Holds where a number of a parameter group differs."""
    for number in range(measured.steps):
        step = measured.of_step(number)
        for rank, groups in enumerate(step["hyper"]):
            for at, (mine, theirs) in enumerate(zip(groups, step["hyper_of_one"], strict=False)):
                for name in mine:
                    one, other = float(mine[name]), float(theirs.get(name, mine[name]))
                    if abs(one - other) > 1e-12 * max(abs(one), abs(other)):
                        return _explanation(measured, number, (rank, at, name, one, other))
    return None


def _explanation(measured: Measured, number: int, found: tuple[int, int, str, float, float]) -> Explanation:
    rank, group, name, mine, theirs = found
    ratio = mine / theirs if theirs else 0.0
    times = f", {ratio:.6g} times as much" if ratio else ""
    known = {float(measured.world): " = number of ranks", 1.0 / measured.world: " = 1 / number of ranks"}
    meaning = next((word for value, word in known.items() if measured.near(ratio, value)), "")
    return Explanation(
        code=CODE,
        name=NAME,
        sentence=f"{name} is {mine:.6g} on the ranks and {theirs:.6g} in one process{times}{meaning}",
        factor=f"{ratio:.6g}{meaning}",
        proof=(
            f"step {number}, rank {rank}, parameter group {group}: {name} = {mine:.9g}, in one process {theirs:.9g}",
        ),
        fix="derive it from the global batch, not from the number of ranks",
        where=str(measured.lines.get("step", "")),
        step=number,
    )
