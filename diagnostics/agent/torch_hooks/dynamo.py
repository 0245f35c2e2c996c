"""Keeps torch.compile away from the agent's own functions.

Dynamo looks at every Python frame that runs below a compiled function. It would compile ours too, guard on what
they count, and leave out what they record. Nothing here changes what it does with the job's frames.
"""

from __future__ import annotations

import sys
import types


def compiling_test():
    """Returns the function that says whether dynamo is tracing; raises AttributeError where torch has none."""
    compiler = sys.modules["torch"].compiler
    return getattr(compiler, "is_dynamo_compiling", None) or compiler.is_compiling


def leave_uncompiled(*modules):
    """Marks all code of these modules, inner functions too, to run as it is; does nothing where torch cannot."""
    frames = sys.modules.get("torch._C._dynamo.eval_frame")
    mark = getattr(frames, "set_code_exec_strategy", None)
    if mark is not None:
        strategy = frames._FrameExecStrategy(frames._FrameAction.SKIP, frames._FrameAction.DEFAULT)
    else:
        mark, strategy = getattr(frames, "skip_code", None), None
    if mark is None:
        return
    for module in modules:
        for code in _code_of(module):
            if strategy is None:
                mark(code)
            else:
                mark(code, strategy)


def _code_of(module):
    waiting = []
    for value in vars(module).values():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        functions = vars(value).values() if isinstance(value, type) else [value]
        waiting.extend(function.__code__ for function in functions if isinstance(function, types.FunctionType))
    while waiting:
        code = waiting.pop()
        yield code
        waiting.extend(inner for inner in code.co_consts if isinstance(inner, types.CodeType))
