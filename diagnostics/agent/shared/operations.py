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
# Recorded, and no part of what the group agrees on: in a healthy job one rank may end without it.
NOT_COUNTED = ("destroy_process_group",)
ALL = SAME_SIZE + SAME_DTYPE + SAME_CALL + POINT_TO_POINT + NOT_COUNTED
ALWAYS_ASYNC = ("isend", "irecv", "batch_isend_irecv")
ANY_SOURCE = ("recv", "irecv", "recv_object_list")
# What gloo counts as operations of the group although not all of its ranks make as many.
UNEVEN = (*POINT_TO_POINT, "monitored_barrier")


ABSENT = (1 << 20, "")  # a place that no call fills


class Operation:
    """One function by its name and the places (position, name) of its parameters, as this torch has them."""

    def __init__(self, name, function):
        names = _parameters(function)
        self.name = name
        self.tensor = _first(names, TENSORS)
        self.group = _first(names, ("group",))
        self.root = _first(names, ROOTS)
        self.group_root = _first(names, GROUP_ROOTS)
        self.asynchronous = _first(names, ("async_op",))
        self.reduction = _first(names, ("op",)) if name not in POINT_TO_POINT else ABSENT
        self.reduces = self.reduction is not ABSENT
        self.always_async = name in ALWAYS_ASYNC
        self.collective = name not in POINT_TO_POINT
        self.uneven = name in UNEVEN
        self.rooted = self.root is not ABSENT or self.group_root is not ABSENT
        self.special = SPECIAL.get(name)

    def kind(self, size, dtype, root, more):
        """Returns the text that must be the same on all ranks of the group."""
        size = size if self.name in SAME_SIZE else ""
        dtype = dtype if self.name in SAME_SIZE or self.name in SAME_DTYPE else ""
        return "%s|%s|%s|%d|%s" % (self.name, size, dtype, root, more)


def uneven_parts(operation, args, kwargs, group, rank):
    """Returns how many operations gloo counts for one call that the other ranks of the group need not make."""
    if operation.name == "monitored_barrier":
        return 2 * (len(group.ranks) - 1) if group.ranks and group.ranks[0] == rank else 2
    if operation.name == "batch_isend_irecv":
        return len(args[0] if args else kwargs["p2p_op_list"])
    return 2 if operation.name.endswith("_object_list") else 1


def argument(place, args, kwargs):
    """Returns the argument at `place`, None where it was not given."""
    index, name = place
    return args[index] if index < len(args) else kwargs.get(name)


def reduction_of(operation, args, kwargs):
    """Returns "max" for a call that does not just add up, "" for one that does, or that reduces nothing."""
    value = argument(operation.reduction, args, kwargs)
    if value is None or type(value) is str:
        return ""
    known = _reductions.get(value)
    if known is None:
        kind, _, words = str(value).partition(".")
        # Any other object shows its address, which is another one on each rank.
        known = words.lower() if kind == "RedOpType" and words.isidentifier() and words != "SUM" else ""
        _reductions[value] = known
    return known


_reductions = {}  # values of ReduceOp -> their names


def _batch(args, kwargs):
    first = (args[0] if args else kwargs["p2p_op_list"])[0]
    return first.tensor, first.group, first.peer, ""


def _new_group(args, kwargs):
    if kwargs.get("use_local_synchronization"):
        return None, None, None, None
    ranks = args[0] if args else kwargs.get("ranks")
    return None, None, None, "all" if ranks is None else ranks_text(ranks)


def _destroy(args, kwargs):
    return None, args[0] if args else kwargs.get("group"), None, None


# These return tensor, group, root and what else ranks must agree on; None for that where only some ranks call it.
SPECIAL = {"batch_isend_irecv": _batch, "new_group": _new_group, "destroy_process_group": _destroy}


def ranks_text(ranks):
    """Returns "0-3,8" for [0, 1, 2, 3, 8]: the order is kept."""
    runs = []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ",".join("%d" % low if low == high else "%d-%d" % (low, high) for low, high in runs)


def _parameters(function):
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _first(names, wanted):
    return next(((names.index(name), name) for name in wanted if name in names), ABSENT)
