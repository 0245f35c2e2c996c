"""Which modules are open now, and which was entered last.

`Module.__call__` is patched, guarded by torch.compiler.is_dynamo_compiling(): global hooks would cost more
and make torch.compile silently compile nothing.
"""

from __future__ import annotations

import functools
import sys
from _thread import get_ident, get_native_id

from ..areas import Strings
from ..shared import layout
from .backward import mark_backward
from .naming import Names


class OpenModules:
    """The stack of modules that are open in one thread; `words` is its place in the file."""

    __slots__ = ("depth", "exception", "node", "ring", "words")

    def __init__(self, words, ring):
        self.words, self.ring = words, ring
        self.depth = 0
        self.exception = 0  # id() of the exception that is unwinding this stack
        self.node = None  # deep mode: the autograd node that was marked last


class Activity:
    """The modules area of this process's file; made at the first call or construction, also after a fork."""

    def __init__(self, agent):
        self.agent = agent
        self.names = Names()
        self.threads = {}  # thread ident -> OpenModules
        self.strings = None
        self.outermost = None  # told of each call of an outermost module: (module, args, kwargs)
        self.made = None  # told of each module that is made, once there is an optimizer
        self.inner = None  # told of each call that returned, while somebody looks: (module, args, result)
        self._stacks = []
        self.ring = self.constructed = None

    @property
    def attached(self):
        """Whether this process has its areas."""
        return bool(self._stacks)

    def attach(self):
        """Reserves the areas; without them, what happens is written into memory of our own and lost."""
        area, self.strings = memoryview(bytearray(layout.MODULES_BYTES)), None
        if self.agent.file is not None:
            try:
                area = self.agent.file.torch_area("modules")
                self.strings = Strings(self.agent.file.torch_area("names"))
            except OSError as error:
                self.agent.event("no-modules-area", str(error))
        self.names.attach(self.strings)
        self._cut(area)

    def _cut(self, area):
        words, at = layout.STACK_WORDS * 4, layout.MODULES_HEADER_BYTES
        self._stacks = [area[at + i * words : at + (i + 1) * words].cast("I") for i in range(layout.STACK_COUNT)]
        at += layout.STACKS_BYTES
        self.ring = area[at : at + layout.RING_BYTES].cast("Q")
        self.constructed = area[at + layout.RING_BYTES : at + 2 * layout.RING_BYTES].cast("Q")

    def open_thread(self):
        """Returns the stack of this thread, at its first module call."""
        if not self.attached:
            self.attach()
        stack = OpenModules(self._free_words(), self.ring)
        stack.words[0] = get_native_id() & 0xFFFFFFFF
        self.threads[get_ident()] = stack
        return stack

    def _free_words(self):
        if len(self.threads) < layout.STACK_COUNT:
            return self._stacks[len(self.threads)]
        for ident, other in list(self.threads.items())[1:]:  # the first is the main thread, as a rule
            if other.depth == 0:
                del self.threads[ident]
                return other.words
        return memoryview(bytearray(layout.STACK_WORDS * 4)).cast("I")

    def name(self, module, stack):
        """Returns the id of the name of a module that has none yet; never raises."""
        try:
            if stack.depth == 0:
                self.names.name_root(module)
            if id(module) not in self.names.ids:
                level = min(stack.depth, layout.STACK_LEVELS)
                self.names.name_stray(module, stack.words[layout.STACK_HEADER_WORDS + level - 1] if level else 0)
            return self.names.ids.get(id(module), 0)
        except Exception:
            return 0

    def left_by(self, error, name, stack, depth):
        """Notes the innermost module an exception came out of, and, once it is out of all, the exception itself."""
        if stack.exception != id(error):
            stack.exception = id(error)
            stack.words[2] = name
            stack.words[3] = self.agent.ordered() & 0xFFFFFFFF
        if not depth:
            self.agent.exceptions.came_out(error)

    def forget(self):
        """After a fork: the areas are the parent's; calls that are still open end in memory of our own."""
        for stack in self.threads.values():
            stack.words = memoryview(bytearray(layout.STACK_WORDS * 4)).cast("I")
            stack.ring = memoryview(bytearray(layout.RING_BYTES)).cast("Q")
        self.threads.clear()
        self._stacks = []


def watch(agent):
    """Patches torch.nn.Module of this process and returns its Activity.

    Raises AttributeError, and patches nothing, where torch cannot tell that it is compiling.
    """
    import torch

    from . import construction

    is_compiling = getattr(torch.compiler, "is_dynamo_compiling", None) or torch.compiler.is_compiling
    agent.modules = activity = Activity(agent)
    agent.at_fork.append(activity.forget)
    module = torch.nn.Module
    module.__call__ = _patched_call(module.__call__, is_compiling, activity, agent)
    construction.watch(module, is_compiling, activity)
    return activity


def _patched_call(original, is_compiling, activity, agent):
    threads, ids, tick, deep = activity.threads, activity.names.ids, agent.ordered, agent.deep
    walks = activity.names.walks
    levels, first, mask = layout.STACK_LEVELS, layout.STACK_HEADER_WORDS, layout.RING_SLOTS - 1
    shift, timings = layout.SEQUENCE_SHIFT, agent.timings
    enter, leave, with_gradients = timings.enter_forward, timings.leave_forward, sys.modules["torch"].is_grad_enabled

    @functools.wraps(original)
    def __call__(self, *args, **kwargs):  # noqa: N807
        if is_compiling():
            return original(self, *args, **kwargs)
        try:
            stack, name = threads[get_ident()], ids[id(self)]
        except KeyError:
            stack = threads.get(get_ident()) or activity.open_thread()
            name = activity.name(self, stack)
        depth, words = stack.depth, stack.words
        outer = -1
        if not depth:
            if activity.outermost is not None:
                activity.outermost(self, args, kwargs)
            graded = with_gradients()
            if graded and id(self) not in walks:  # named as a part of what was called before: DDP's module, by itself
                activity.name(self, stack)
            outer = enter(graded)
        if depth < levels:
            words[first + depth] = name
        words[1] = stack.depth = depth + 1
        sequence = tick()
        stack.ring[sequence & mask] = sequence << shift | name
        try:
            result = original(self, *args, **kwargs)
            if deep:
                mark_backward(result, name, stack, agent)
            if activity.inner is not None:
                activity.inner(self, args, result)
            return result
        except BaseException as error:
            activity.left_by(error, name, stack, depth)
            raise
        finally:
            stack.words[1] = stack.depth = depth
            if not depth:
                leave(outer)
                stack.exception, stack.node = 0, None

    return __call__
