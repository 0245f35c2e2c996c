"""What the ranks of a group must agree on in one collective, by what was recorded of it: the agent's rules. Pure."""

from __future__ import annotations

from math import prod

from diagnostics.agent.shared import operations

OBJECTS = frozenset(name for name in operations.COLLECTIVES if name in operations.PICKLED)
NEW_GROUP = "new_group"
CALLED_BY_ALL = frozenset(operations.COLLECTIVES)
NOT_COLLECTIVE = frozenset((*operations.POINT_TO_POINT, *operations.NOT_COUNTED, "wait"))


def is_collective(op: str) -> bool:
    """Whether all ranks of the group make this call alike."""
    return op not in NOT_COLLECTIVE and not op.startswith("store.")


def is_counted(op: str, shape: str) -> bool:
    """Whether the call is part of the group's rolling hash."""
    return is_collective(op) and (op != NEW_GROUP or bool(shape))


def element_count(shape: str) -> int | None:
    """Returns how many elements "8x3" has; None for what is no shape."""
    if shape == "scalar":
        return 1
    parts = shape.split("x")
    return prod(map(int, parts)) if shape and all(part.isdecimal() and len(part) < 16 for part in parts) else None


def mismatch(one: tuple[str, str, str, int | None], other: tuple[str, str, str, int | None]) -> str:
    """Returns in what two calls (op, shape, dtype, root) differ that must be equal: "operation", "size"...; "" none."""
    (op, shape, dtype, root), (op_2, shape_2, dtype_2, root_2) = one, other
    if operations.FAMILY.get(op, op) != operations.FAMILY.get(op_2, op_2):
        return "operation"
    if op == op_2 == NEW_GROUP and shape != shape_2:
        return "ranks"
    sized, typed = operations.SAME_SIZE, operations.SAME_SIZE + operations.SAME_DTYPE
    if op in typed and op_2 in typed and dtype and dtype_2 and dtype != dtype_2:
        return "dtype" if dtype.split(" ")[0] != dtype_2.split(" ")[0] else "reduction"
    if op == op_2 and op in sized and shape and shape_2 and element_count(shape) != element_count(shape_2):
        return "size"
    if op == op_2 and root is not None and root_2 is not None and root != root_2:
        return "root"
    return ""
