"""The functions of torch.distributed: where their tensor, group and root stand, and what ranks must agree on."""

from __future__ import annotations

TENSORS = ("tensor", "input_tensor", "input_tensor_list", "input", "output", "tensors")
ROOTS = ("src", "dst")
GROUP_ROOTS = ("group_src", "group_dst")
GROUPS = ("group", "parent_pg")  # whose ranks are to call it
# What ranks must agree on: elements and dtype; the dtype alone (NCCL's uneven lists, splits); that it is called, and
# its root. Nothing: two ranks only, or a call that in a healthy job one rank may end without.
SIZE, DTYPE, CALL, PEER, NOTHING = "size", "dtype", "call", "peer", ""


class Row:
    """One function by its name.

    `parameters`: by position, as torch declares them; "" where the agents see it through what it calls. What is a
    tensor, root or group is found by its name, in TENSORS, ROOTS, GROUP_ROOTS and GROUPS.
    `agree`: SIZE, DTYPE, CALL, PEER or NOTHING.
    `sends`, `receives`: which half of a message it is; `batch`: several messages at once.
    `always_async`: it returns a handle whatever is asked for.
    `needs`: whom a rank waits for; "root": who is not the root needs the root alone, "others": only the root needs the
    others; "all".
    `shares`: afterwards all ranks have the same in the first argument.
    `in_place`: its `tensor` is what a rank gives, and what holds the result afterwards; nothing else does.
    `parts`: the argument that gets one part of each rank; `pickled`: the argument that goes as pickled objects.
    `slots`: the list of tensors that it writes, one for each rank; `at_root`: the list that the root alone may give.
    `family`: aliases of one another, and what is carried out by the same code: ranks that call two of one family are
    taken to agree. Compared are the operation, the root and, by `size`, shape or type; no other argument.
    `unlike`: in a healthy job the sizes that backends record of it may differ.
    `uneven`: gloo counts operations of it that not all ranks of the group make.
    `uncounted`: ranks agree on it, and no backend counts it; without that the next call would have its number.
    `common`: its name alone says little, other things have it too: sockets send, asyncio gathers.
    `dumped`: what torch's flight recorder calls it; "" for what torch's analyser of its dumps has no name for.
    """

    def __init__(self, name, parameters, agree, **marks):
        self.name, self.parameters, self.agree = name, tuple(parameters.split()), agree
        self.sends = self.receives = self.batch = self.always_async = self.shares = self.in_place = False
        self.unlike = self.common = self.makes_group = self.uncounted = False
        self.uneven = agree == PEER
        self.needs, self.parts, self.pickled, self.family = "all", "", "", name
        self.slots = self.at_root = self.dumped = ""
        for mark, value in marks.items():
            getattr(self, mark)  # one that is misspelt is an error here, not a row without it
            setattr(self, mark, value)


_INTO = "output_tensor input_tensor group async_op"
_SCATTERED = "output input op group async_op"
_GATHERED, _GATHER_BASE = "all_gather", "_all_gather_base"
_PARTED, _PARTED_BASE = "reduce_scatter", "_reduce_scatter_base"
TABLE = (
    Row("all_reduce", "tensor op group async_op", SIZE, shares=True, in_place=True, dumped="all_reduce"),
    Row("all_reduce_coalesced", "tensors op group async_op", SIZE, shares=True, family="all_reduce"),
    Row("broadcast", "tensor src group async_op", SIZE, shares=True, needs="root", in_place=True, common=True,
        dumped="broadcast"),
    Row("reduce", "tensor dst op group async_op", SIZE, needs="others", in_place=True, common=True, dumped="reduce"),
    Row("all_gather", "tensor_list tensor group async_op", DTYPE, shares=True, parts="tensor_list",
        slots="tensor_list", unlike=True, dumped="all_gather"),
    Row("all_gather_into_tensor", _INTO, SIZE, shares=True, parts="output_tensor", family=_GATHERED,
        dumped=_GATHER_BASE),
    Row("all_gather_single", _INTO, SIZE, shares=True, parts="output_tensor", family=_GATHERED, dumped=_GATHER_BASE),
    Row("_all_gather_base", _INTO, SIZE, shares=True, parts="output_tensor", family=_GATHERED, dumped=_GATHER_BASE),
    Row("all_gather_coalesced", "output_tensor_lists input_tensor_list group async_op", DTYPE, family=_GATHERED),
    Row("gather", "tensor gather_list dst group async_op", SIZE, needs="others", parts="gather_list",
        slots="gather_list", at_root="gather_list", unlike=True, common=True, dumped="gather"),
    Row("scatter", "tensor scatter_list src group async_op", SIZE, needs="root", at_root="scatter_list", unlike=True,
        common=True, dumped="scatter"),
    Row("reduce_scatter", "output input_list op group async_op", SIZE, unlike=True, dumped=_PARTED),
    Row("reduce_scatter_tensor", _SCATTERED, SIZE, family=_PARTED, dumped=_PARTED_BASE),
    Row("reduce_scatter_single", _SCATTERED, SIZE, family=_PARTED, dumped=_PARTED_BASE),
    Row("_reduce_scatter_base", _SCATTERED, SIZE, family=_PARTED, dumped=_PARTED_BASE),
    Row("all_to_all", "output_tensor_list input_tensor_list group async_op", DTYPE, slots="output_tensor_list",
        unlike=True, dumped="all_to_all"),
    Row("all_to_all_single", "output input output_split_sizes input_split_sizes group async_op", DTYPE,
        family="all_to_all", dumped="all_to_all"),
    Row("barrier", "group async_op device_ids", CALL, dumped="barrier"),
    Row("monitored_barrier", "group timeout wait_all_ranks", CALL, needs="first", uneven=True, dumped="barrier"),
    Row("all_gather_object", "object_list obj group", CALL, shares=True, pickled="obj"),
    Row("gather_object", "obj object_gather_list dst group", CALL, pickled="obj", at_root="object_gather_list"),
    Row("scatter_object_list", "scatter_object_output_list scatter_object_input_list src group", CALL, needs="root",
        pickled="scatter_object_input_list"),
    Row("broadcast_object_list", "object_list src group", CALL, shares=True, needs="root", pickled="object_list"),
    Row("new_group", "ranks timeout backend pg_options use_local_synchronization", CALL, makes_group=True),
    Row("split_group", "parent_pg split_ranks timeout pg_options group_desc", CALL, uncounted=True),
    Row("send", "tensor dst group tag", PEER, sends=True, common=True),
    Row("recv", "tensor src group tag", PEER, receives=True, common=True),
    Row("isend", "tensor dst group tag", PEER, sends=True, always_async=True),
    Row("irecv", "tensor src group tag", PEER, receives=True, always_async=True),
    Row("batch_isend_irecv", "p2p_op_list", PEER, batch=True, always_async=True),
    Row("send_object_list", "object_list dst group", PEER, sends=True, pickled="object_list"),
    Row("recv_object_list", "object_list src group", PEER, receives=True, pickled="object_list"),
    Row("destroy_process_group", "group", NOTHING),
)  # fmt: skip
# It calls new_group: the agents see that.
MADE_OF_OTHERS = (
    Row("new_subgroups", "", CALL, makes_group=True),
    Row("new_subgroups_by_enumeration", "", CALL, makes_group=True),
)


def names(asked, rows=TABLE):
    """Returns the names of the rows of which `asked` is true."""
    return tuple(row.name for row in rows if asked(row))


def _is_handed_out(row):
    return row.needs == "root" and (not row.shares or bool(row.pickled))


ALL = names(lambda row: True)
PARAMETERS = {row.name: row.parameters for row in TABLE}
TENSOR = {row.name: next((name for name in TENSORS if name in row.parameters), "") for row in TABLE}
# Whatever makes ranks meet; DESTROY is recorded, and no part of what the group agrees on.
MEETINGS = names(lambda row: row.agree != NOTHING, TABLE + MADE_OF_OTHERS)
DESTROY = "destroy_process_group"
COLLECTIVES = names(lambda row: row.agree in (SIZE, DTYPE, CALL))
POINT_TO_POINT = names(lambda row: row.agree == PEER)
NOT_COUNTED = names(lambda row: row.agree == NOTHING)
SAME_SIZE = names(lambda row: row.agree == SIZE)
SAME_DTYPE = names(lambda row: row.agree == DTYPE)
GROUP_MAKERS = names(lambda row: row.makes_group, TABLE + MADE_OF_OTHERS)
SUBGROUP_MAKERS = names(lambda row: row.makes_group, MADE_OF_OTHERS)
GROUP = {row.name: group for row in TABLE for group in GROUPS if group in row.parameters}
ROOTED = {row.name: root for row in TABLE if row.agree != PEER for root in ROOTS if root in row.parameters}
REDUCING = names(lambda row: "op" in row.parameters)

SENDS = names(lambda row: row.sends)
RECEIVES = names(lambda row: row.receives)
BATCHES = names(lambda row: row.batch)
BATCH_PART = "P2POp"  # the class of a batch's messages
ALWAYS_ASYNC = names(lambda row: row.always_async)
ANY_SOURCE = names(lambda row: row.receives)
UNEVEN = names(lambda row: row.uneven)
UNCOUNTED = names(lambda row: row.uncounted)

NEED_ROOT = names(lambda row: row.needs == "root")
NEED_OTHERS = names(lambda row: row.needs == "others")
MONITORED = names(lambda row: row.needs == "first")  # the group's first rank needs all, the others need that one
SHARED = names(lambda row: row.shares)
IN_PLACE = names(lambda row: row.in_place)
SUMS = names(lambda row: row.in_place and "op" in row.parameters)
SUMS_FOR_ALL = names(lambda row: row.in_place and row.shares and "op" in row.parameters)
TO_ALL = names(lambda row: row.shares and row.needs == "root")  # afterwards all have what the root had
PARTS = {row.name: row.parts for row in TABLE if row.parts}
PICKLED = {row.name: row.pickled for row in TABLE if row.pickled}
# The list whose objects become the root's.
REPLACED = {row.name: row.parameters[0] for row in TABLE if row.pickled and row.needs == "root"}
SLOTS = {row.name: row.slots for row in TABLE if row.slots}
AT_ROOT = {row.name: row.at_root for row in TABLE if row.at_root}
DUMPED = {row.name: row.dumped for row in TABLE if row.dumped}
# By the argument that gets all parts: what comes from the other ranks has no graph.
GATHERED_TENSORS = {row.name: row.parts for row in TABLE if row.parts and row.family == _GATHERED}
FAMILY = {row.name: row.family for row in TABLE}
UNLIKE_SIZES = names(lambda row: row.unlike)
COMMON_NAMES = names(lambda row: row.common)
# What goes between ranks: nothing; data that some give to others; what wrappers send of parameters and gradients.
CARRY_NOTHING = names(lambda row: not (TENSOR.get(row.name) or row.pickled or row.batch), TABLE + MADE_OF_OTHERS)
HAND_OVER = names(lambda row: row.agree == PEER or row.family == "all_to_all" or _is_handed_out(row))
OF_WRAPPERS = names(lambda row: row.family in ("all_reduce", "broadcast", "all_gather", "reduce_scatter"))
OF_SHARDS = names(lambda row: row.family in (_GATHERED, _PARTED))  # come together, and go apart again
UNMISTAKABLE = names(lambda row: not row.common and row.agree != NOTHING, TABLE + MADE_OF_OTHERS)


ABSENT = (1 << 20, "")  # a place that no call fills


class Operation:
    """One function by its name and the places (position, name) of its parameters, as this torch has them."""

    def __init__(self, name, function):
        given = _parameters(function)
        self.name = name
        self.tensor = _first(given, TENSORS)
        self.group = _first(given, GROUPS)
        self.root = _first(given, ROOTS)
        self.group_root = _first(given, GROUP_ROOTS)
        self.asynchronous = _first(given, ("async_op",))
        self.reduction = _first(given, ("op",)) if name not in POINT_TO_POINT else ABSENT
        self.reduces = self.reduction is not ABSENT
        self.always_async = name in ALWAYS_ASYNC
        self.collective = name not in POINT_TO_POINT
        self.uncounted = name in UNCOUNTED
        self.uneven = self.uncounted or name in UNEVEN
        self.rooted = self.root is not ABSENT or self.group_root is not ABSENT
        self.special = SPECIAL.get(name)

    def kind(self, size, dtype, root, more):
        """Returns the text that must be the same on all ranks of the group."""
        size = size if self.name in SAME_SIZE else ""
        dtype = dtype if self.name in SAME_SIZE or self.name in SAME_DTYPE else ""
        return "%s|%s|%s|%d|%s" % (self.name, size, dtype, root, more)


def uneven_parts(operation, args, kwargs, group, rank):
    """Returns how many operations gloo counts for one call that the other ranks of the group need not make.

    -1: the call is one that all of them make, and not counted.
    """
    if operation.uncounted:
        return -1
    if operation.name in MONITORED:
        return 2 * (len(group.ranks) - 1) if group.ranks and group.ranks[0] == rank else 2
    if operation.name in BATCHES:
        return len(args[0] if args else kwargs["p2p_op_list"])
    return 2 if operation.name in PICKLED else 1


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
