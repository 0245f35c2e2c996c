"""The functions of torch.distributed: where their tensor, group and root stand, and what ranks must agree on."""

from __future__ import annotations

TENSORS = ("tensor", "input_tensor", "input_tensor_list", "input", "output", "tensors")
ROOTS = ("src", "dst")
GROUP_ROOTS = ("group_src", "group_dst")

# Functions whose tensors have the same number of elements on every rank of the group.
SAME_SIZE = (
    "all_reduce",
    "all_reduce_coalesced",
    "broadcast",
    "reduce",
    "all_gather_into_tensor",
    "all_gather_single",
    "_all_gather_base",
    "gather",
    "scatter",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "reduce_scatter_single",
    "_reduce_scatter_base",
)
# The sizes may differ (NCCL's uneven lists, splits), the dtype may not.
SAME_DTYPE = ("all_gather", "all_gather_coalesced", "all_to_all", "all_to_all_single")
# Nothing but that it is called, and its root.
SAME_CALL = (
    "barrier",
    "monitored_barrier",
    "all_gather_object",
    "gather_object",
    "scatter_object_list",
    "broadcast_object_list",
    "new_group",
)
# Of two ranks only, so no part of what a group agrees on.
POINT_TO_POINT = ("send", "recv", "isend", "irecv", "send_object_list", "recv_object_list", "batch_isend_irecv")
ALL = SAME_SIZE + SAME_DTYPE + SAME_CALL + POINT_TO_POINT
ALWAYS_ASYNC = ("isend", "irecv", "batch_isend_irecv")
ANY_SOURCE = ("recv", "irecv", "recv_object_list")


class Operation:
    """One function by its name and the positions of its parameters, as this torch has them."""

    def __init__(self, name, function):
        names = _parameters(function)
        self.name = name
        self.tensor = _first(names, TENSORS)
        self.group = _first(names, ("group",))
        self.root = _first(names, ROOTS)
        self.group_root = _first(names, GROUP_ROOTS)
        self.asynchronous = _first(names, ("async_op",))
        self.always_async = name in ALWAYS_ASYNC
        self.collective = name not in POINT_TO_POINT
        self.rooted = self.root is not None or self.group_root is not None

    def kind(self, size, dtype, root, more):
        """Returns the text that must be the same on all ranks of the group."""
        size = size if self.name in SAME_SIZE else ""
        dtype = dtype if self.name in SAME_SIZE or self.name in SAME_DTYPE else ""
        return "%s|%s|%s|%d|%s" % (self.name, size, dtype, root, more)


def argument(place, args, kwargs):
    """Returns the argument at `place`, None where it was not given."""
    if place is None:
        return None
    index, name = place
    return args[index] if index < len(args) else kwargs.get(name)


def _parameters(function):
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _first(names, wanted):
    return next(((names.index(name), name) for name in wanted if name in names), None)
