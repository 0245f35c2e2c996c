"""Calls of torch.distributed from Python: what was entered, from where, and whether it was left.

Only the outermost call is recorded: object collectives are made of others. What C++ calls (DDP's reducer) is seen
through the group's own counter. No reference to a tensor, group or work is kept: one would change their end.
"""

from __future__ import annotations

import functools
import sys
import weakref
from _thread import get_ident, get_native_id

from ..shared import layout, operations
from ..shared.timing_layout import COLLECTIVE
from . import store_waits
from .call_area import CallArea, Group, hash_of
from .dynamo import compiling_test
from .timings import timed
from .wrapped_models import own_frames

MODULE = "torch.distributed.distributed_c10d"
UNRECORDED = "_broadcast_coalesced"  # DDP's, of buffers: its time is told, its calls are not
MAX_KINDS, MAX_WORKS = 4096, 512
OTHER_WAITS = ("get_future", "is_completed", "synchronize", "block_current_stream")


class Collectives:
    """The recorder of this process; it gets its area at the first call, also after a fork."""

    def __init__(self, agent, module):
        self._agent, self._module, self._members = agent, module, module.GroupMember
        self.forget()

    def forget(self):
        """Starts over: in a forked child the area is the parent's."""
        self.inside = set()  # idents of threads that are in a call
        self._area, self._broken = None, False
        self._groups = {}  # id of a group -> (weak reference, Group)
        self._main = get_ident(), get_native_id()  # asking the kernel each time would be slow
        self._kinds = {}  # what is the same for equal calls
        self.works = {}  # id of a work -> what it waits for
        # id of a work that nobody waited for -> (weak reference to the tensor on the host, operation, where)
        self.open, self.waited, self.waited_at = {}, 0, []
        self._held = None  # what tells the exception under which the last call was made from others

    def enter(self, operation, args, kwargs, frame, thread):
        """Writes that a call began. Returns what leave() needs, None where nothing was written. Never raises."""
        try:
            if self._area is None and not self._attach():
                return None
            error = sys.exc_info()[1]
            if error is not None or self._held is not None:
                self._tell_held(error)
            if operation.special is None:
                tensor, handle, root, more = _arguments(operation, args, kwargs)
            else:
                tensor, handle, root, more = operation.special(args, kwargs)
            if handle is None:
                handle = self._members.WORLD
            _, group = self._groups.get(id(handle)) or self._new_group(handle)
            if root is None:
                root = _default_root(operation, args, kwargs, group) if operation.rooted else layout.NO_ROOT
            if tensor is None:
                key = (operation.name, root, more)
            elif operation.reduces:
                more = operations.reduction_of(operation, args, kwargs)
                key = (operation.name, root, tensor.shape, tensor.dtype, more)
            else:
                key = (operation.name, root, tensor.shape, tensor.dtype)
            words, kind = self._kinds.get(key) or self._new_kind(key, operation, tensor, root, more)
            number = handle._get_sequence_number_for_group() if group.numbered else -1
            raw = number
            if operation.collective and group.numbered:
                number -= group.uneven  # so that it is the same on all ranks of the group
            index, name = operation.asynchronous
            asynchronous = args[index] if index < len(args) else kwargs.get(name) or operation.always_async
            flags = layout.FLAG_ASYNC if asynchronous else 0
            native = self._main[1] if thread == self._main[0] else get_native_id()
            slot = self._area.enter(words, group, number, root, frame, native, flags)
            if operation.collective and more is not None:
                self._area.count(group, kind)
            uneven = None
            if operation.uneven and group.numbered:
                parts = operations.uneven_parts(operation, args, kwargs, group, self._module.get_rank())
                uneven = handle, group, raw, parts
            call = (words, group, number, root) if asynchronous else None
            told = None
            if call is not None and operation.reduces and getattr(tensor, "is_cpu", False):
                told = weakref.ref(tensor), operation.name, own_frames(frame) if not self.open else []
            return slot, call, uneven, told
        except Exception:
            return None  # a call nobody saw; the job goes on

    def _tell_held(self, error):
        """Records, once, an exception that is not yet out: the call is in a handler, `finally` or exit of a `with`."""
        traceback = error.__traceback__ if error is not None else None
        held = (id(error), traceback.tb_lineno, traceback.tb_lasti) if traceback is not None else None
        if held is not None and held != self._held:
            self._agent.exceptions.caught.tell(error, "held")
        self._held = held

    def enter_wait(self, call, frame):
        """Writes that somebody waits for what an asynchronous call started. Never raises."""
        try:
            (_, shape, dtype), group, number, root = call
            words = (self._area.strings.intern(b"wait"), shape, dtype)
            return self._area.enter(words, group, number, root, frame, get_native_id(), 0), None, None, None
        except Exception:
            return None

    def ask(self, work, frame):
        """Notes that somebody waits for a work, or asks it whether it is done. Never raises."""
        if self.open.pop(id(work), None) is not None:
            self.waited += 1
            if self.waited == 1:
                self.waited_at = own_frames(frame)

    def leave(self, entered, result, failed):
        """Writes that it is over. Never raises."""
        try:
            slot, call, uneven, told = entered
            self._area.leave(slot, failed)
            if uneven is not None:
                handle, group, raw, parts = uneven
                # NCCL counts none of the uneven ones; another thread's are not this call's.
                self._area.count_uneven(group, min(parts, handle._get_sequence_number_for_group() - raw))
            if call is not None and result is not None:
                for work in result if isinstance(result, (list, tuple)) else (result,):
                    if len(self.works) >= MAX_WORKS:
                        del self.works[next(iter(self.works))]
                    self.works[id(work)] = call
                    if told is not None and len(self.open) < MAX_WORKS:
                        self.open[id(work)] = told
        except Exception:
            pass  # it reads as not left; another call of this thread shows that it was

    def area(self):
        """Returns the area to write into, None where there is none."""
        return self._area if self._area is not None or self._attach() else None

    def _attach(self):
        if self._broken or self._agent.file is None:
            return False
        try:
            self._area = CallArea(self._agent.file.torch_area("collectives"), self._agent.ordered)
        except OSError as error:
            self._broken = True
            self._agent.event("no-collectives-area", str(error))
        return self._area is not None

    def _new_group(self, handle):
        """Returns (weak reference, Group) of a group seen for the first time; of none where this is no member."""
        if handle is None or not hasattr(handle, "group_name"):
            return None, Group(0, (), numbered=False)
        key, ranks = id(handle), self._module.get_process_group_ranks(handle)
        group = self._area.group(handle.group_name, ranks)
        try:
            handle._get_sequence_number_for_group()
        except Exception:
            group.numbered = False  # this torch or this backend has no counter
        known = self._groups[key] = (weakref.ref(handle, lambda _: self._groups.pop(key, None)), group)
        return known

    def _new_kind(self, key, operation, tensor, root, more):
        """Returns the ids of op, shape and dtype, and the hash of what ranks must agree on."""
        shape = "x".join(map(str, tensor.shape)) or "scalar" if tensor is not None else ""
        shape = shape or ("ranks %s" % more if more else "")
        dtype = str(tensor.dtype).replace("torch.", "") if tensor is not None else ""
        dtype = "%s %s" % (dtype, more) if operation.reduces and more else dtype
        size = tensor.numel() if tensor is not None else ""
        words = tuple(self._area.strings.intern(text.encode()) for text in (operation.name, shape, dtype))
        if len(self._kinds) >= MAX_KINDS:
            self._kinds.clear()
        known = self._kinds[key] = (words, hash_of(operation.kind(size, dtype, root, more)))
        return known


def _arguments(operation, args, kwargs):
    """Returns tensor, group, root and "" of one call; for a list of tensors its first."""
    given = len(args)
    index, name = operation.tensor
    tensor = args[index] if index < given else kwargs.get(name)
    if isinstance(tensor, (list, tuple)):
        tensor = tensor[0] if tensor else None
    index, name = operation.group
    group = args[index] if index < given else kwargs.get(name)
    index, name = operation.root
    return tensor, group, args[index] if index < given else kwargs.get(name), ""


def _default_root(operation, args, kwargs, group):
    """Returns the global rank of source or destination where it is not given as such, NO_ROOT where it is any."""
    relative = operations.argument(operation.group_root, args, kwargs)
    if not group.ranks or (relative is None and operation.name in operations.ANY_SOURCE):
        return layout.NO_ROOT
    return group.ranks[relative or 0]


def watch(agent):
    """Wraps the functions that this torch has, wherever torch.distributed holds them."""
    module = sys.modules[MODULE]
    recorder, is_compiling = Collectives(agent, module), compiling_test()
    agent.collectives = recorder
    agent.at_fork.append(recorder.forget)
    holders = [held for name, held in list(sys.modules.items()) if name.startswith("torch.distributed")]
    for name in operations.ALL:
        original = getattr(module, name, None)
        if original is None:
            continue
        wrapped = _wrapped(original, operations.Operation(name, original), recorder, is_compiling, agent.timings)
        for holder in holders:
            if vars(holder).get(name) is original:
                setattr(holder, name, wrapped)
    for holder in holders:
        original = vars(holder).get(UNRECORDED)
        if original is not None:
            setattr(holder, UNRECORDED, timed(original, agent.timings, COLLECTIVE, is_compiling))
    work = getattr(module, "Work", None)
    if work is not None and hasattr(work, "wait"):
        work.wait = _wrapped_wait(work.wait, recorder, is_compiling, agent.timings)
        for name in OTHER_WAITS:
            if hasattr(work, name):
                setattr(work, name, _asking(getattr(work, name), recorder, is_compiling))
    store_waits.watch(agent, module, recorder, is_compiling)


def _wrapped(original, operation, recorder, is_compiling, timings):
    @functools.wraps(original)
    def call(*args, **kwargs):
        if is_compiling():
            return original(*args, **kwargs)
        thread = get_ident()
        if thread in recorder.inside:
            return original(*args, **kwargs)
        entered, result, failed, before = None, None, True, -1
        inside = recorder.inside  # another set in a child that is forked meanwhile
        try:
            inside.add(thread)
            before = timings.enter(COLLECTIVE)
            entered = recorder.enter(operation, args, kwargs, sys._getframe(1), thread)
            result = original(*args, **kwargs)
            failed = False
            return result
        finally:
            timings.leave(before)
            inside.discard(thread)
            if entered is not None:
                recorder.leave(entered, result, failed)

    return call


def _asking(original, recorder, is_compiling):
    def asked(self, *args, **kwargs):
        if not is_compiling():
            recorder.ask(self, sys._getframe(1))
        return original(self, *args, **kwargs)

    asked.__doc__ = original.__doc__
    return asked


def _wrapped_wait(original, recorder, is_compiling, timings):
    def wait(self, *args, **kwargs):
        if is_compiling() or get_ident() in recorder.inside:
            return original(self, *args, **kwargs)
        call = recorder.works.pop(id(self), None)
        if call is None:
            return original(self, *args, **kwargs)
        recorder.ask(self, sys._getframe(1))
        before = timings.enter(COLLECTIVE)
        entered, failed = recorder.enter_wait(call, sys._getframe(1)), True
        try:
            result = original(self, *args, **kwargs)
            failed = False
            return result
        finally:
            timings.leave(before)
            if entered is not None:
                recorder.leave(entered, None, failed)

    wait.__doc__ = original.__doc__
    return wait
