"""What the source says about caught exceptions and training loops: which handler took one, what it cut short. Pure.

What an exception handler does with what it caught: raises it, leaves, keeps it, or lets it vanish.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from diagnostics.static.program import exit_calls
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.own_nodes import Callable_
from diagnostics.static.program.project import Project
from diagnostics.static.program.source_file import SourceFile

_BROAD = {"Exception", "BaseException", "RuntimeError", "StandardError"}
_TELLS = re.compile(
    r"^(?:print|log\w*|debug|info|warn\w*|error|exception|critical|format_exc|print_exc\w*|print_exception|write|echo"
    r"|secho|tqdm|rprint|display|flush|str|repr|type|format|join|strip|_?log\w*|print_\w+|rank_zero_\w+|logging)$"
)
_QUIET = (ast.Pass, ast.Continue, ast.Expr, ast.Return, ast.AugAssign, ast.Import, ast.ImportFrom, ast.Break)

_STEP_ARGUMENTS = 3  # scaler.step(optimizer), optimizer.step(closure): never many
MAX_CALL_DEPTH = 5  # main -> run -> fit -> train_epoch -> train_step
Loop = ast.For | ast.While | ast.AsyncFor


def spans(node: ast.AST, line: int) -> bool:
    """Whether a node's lines hold `line`."""
    return getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", None) or 0)


def _inside(statements: list[ast.stmt], line: int) -> bool:
    return any(spans(statement, line) for statement in statements)


def catching(source: SourceFile, line: int) -> ast.Try | None:
    """Returns the innermost try with handlers whose body holds `line`."""
    tries = [
        node
        for node in (walk(source.tree) if source.tree is not None else ())
        if isinstance(node, ast.Try)
        and (node.handlers or leaves_with_success(node.finalbody))
        and _inside(node.body, line)
    ]
    return max(tries, key=lambda node: node.lineno, default=None)


def with_around(source: SourceFile, line: int) -> ast.With | ast.AsyncWith | None:
    """Returns the innermost `with` whose body holds `line`."""
    return next(iter(withs_around(source, line)), None)


def withs_around(source: SourceFile, line: int) -> list[ast.With | ast.AsyncWith]:
    """Returns each `with` whose body holds `line`, innermost first."""
    nodes = walk(source.tree) if source.tree is not None else ()
    around = [node for node in nodes if isinstance(node, (ast.With, ast.AsyncWith)) and _inside(node.body, line)]
    return sorted(around, key=lambda node: -node.lineno)


def suppresses(block: ast.With | ast.AsyncWith) -> bool:
    """Whether a `with` is one of contextlib.suppress."""
    return any(
        isinstance(item.context_expr, ast.Call) and last_name(item.context_expr.func) == "suppress"
        for item in block.items
    )


def taken_kinds(block: ast.Try | ast.With | ast.AsyncWith) -> list[ast.expr]:
    """Returns the names of exceptions that a try or a `with suppress(...)` takes."""
    kinds: list[ast.expr] = []
    for one in block.handlers if isinstance(block, ast.Try) else ():
        kinds += one.type.elts if isinstance(one.type, ast.Tuple) else [one.type] if one.type is not None else []
    for item in () if isinstance(block, ast.Try) else block.items:
        call = item.context_expr
        kinds += call.args if isinstance(call, ast.Call) and last_name(call.func) == "suppress" else []
    return kinds


def handler_of(source: SourceFile, line: int) -> ast.ExceptHandler | ast.Try | None:
    """Returns the handler, or the try whose `finally`, holds `line`."""
    for node in walk(source.tree) if source.tree is not None else ():
        if not isinstance(node, ast.Try):
            continue
        for handler in node.handlers:
            if spans(handler, line):
                return handler
        if _inside(node.finalbody, line):
            return node
    return None


def hiding_line(block: ast.Try) -> int:
    """Returns the line that hides what a try caught: the call that leaves with 0, else the handler itself."""
    bodies = [*(handler.body for handler in block.handlers), block.finalbody]
    leaving = [node.lineno for body in bodies for statement in body for node in _leaving(statement)]
    if leaving:
        return leaving[0]
    return block.handlers[0].lineno if block.handlers else block.finalbody[0].lineno


def goes_on_raising(block: ast.Try) -> bool:
    """Whether every handler ends in a raise or an exit with an error: then nothing is hidden."""
    return bool(block.handlers) and all(ends_in_raise(handler.body) for handler in block.handlers)


def training_functions(sources: Iterable[SourceFile]) -> frozenset[str]:
    """Returns the functions of these files that call backward() or step(), themselves or through each other.

    With the parameters by which functions call one of them that they are handed.
    """
    sources = list(sources)
    functions = [
        node
        for source in sources
        for node in (walk(source.tree) if source.tree is not None else ())
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    calls = [node for source in sources for node in walk(source.tree or ast.Pass()) if isinstance(node, ast.Call)]
    found: frozenset[str] = frozenset()
    for _ in range(MAX_CALL_DEPTH):
        more = frozenset(node.name for node in functions if _trains(node, found))
        given = {last_name(call.func) for call in calls if any(_is_one_of(value, found) for value in call.args)}
        given |= {_decorator(one) for node in functions if node.name in more for one in node.decorator_list}
        more |= {name for node in functions if node.name in given for name in _called_parameters(node)}
        if more == found:
            break
        found = more
    return found


def _decorator(value: ast.expr) -> str:
    return last_name(value.func if isinstance(value, ast.Call) else value)


def _is_one_of(value: ast.expr, names: frozenset[str]) -> bool:
    return isinstance(value, (ast.Name, ast.Attribute)) and last_name(value) in names


def _called_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Returns the parameters that a function calls: what it was handed over does the work."""
    called = {node.func.id for node in walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return {one.arg for one in function.args.args} & called


def training_loops(source: SourceFile, trained_by: frozenset[str]) -> tuple[Loop, ...]:
    """Returns the loops that call backward(), step() or one of `trained_by`, outermost first."""
    nodes = walk(source.tree) if source.tree is not None else ()
    loops = [node for node in nodes if isinstance(node, Loop) and _trains(node, trained_by)]
    return tuple(sorted(loops, key=lambda node: (node.lineno, -(node.end_lineno or 0))))


def in_training_loop(source: SourceFile, line: int, trained_by: frozenset[str]) -> bool:
    """Whether `line` stands in the body of a training loop, or takes its next item or turn."""
    return any(_goes_round(loop, line) for loop in training_loops(source, trained_by))


def loop_follows(source: SourceFile, line: int, trained_by: frozenset[str]) -> bool:
    """Whether a training loop stands further down in the function of `line`."""
    function = source.function_at(line)
    if function is None:
        return False
    last = function.end_lineno or function.lineno
    return any(line < loop.lineno <= last for loop in training_loops(source, trained_by))


def _goes_round(loop: Loop, line: int) -> bool:
    return _inside(loop.body, line) or spans(loop.test if isinstance(loop, ast.While) else loop.iter, line)


def swallowing_tries(source: SourceFile, trained_by: frozenset[str]) -> tuple[ast.Try, ...]:
    """Returns the tries around training whose handlers for all kinds of errors let none of them out.

    Those that stand in a training loop without training themselves, around a forward pass, come first.
    """
    nodes = walk(source.tree) if source.tree is not None else ()
    broad = [
        node
        for node in nodes
        if isinstance(node, ast.Try)
        and any(_is_broad(handler) and not ends_in_raise(handler.body) for handler in node.handlers)
    ]
    around = [node for node in broad if any(_trains(one, trained_by) for one in (*node.body, *node.orelse))]
    inside = [node for node in broad if node not in around and in_training_loop(source, node.lineno, trained_by)]
    return (*inside, *around)


def tells_by(handler: ast.ExceptHandler, functions: tuple[str, ...]) -> bool:
    """Whether a handler calls one of these functions in any case: `logging.exception(...)`, `traceback.print_exc()`."""
    for statement in handler.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in functions:
            return True
    return False


def calls_of_attribute(source: SourceFile, name: str) -> tuple[int, ...]:
    """Returns the lines that call `self.name(...)`."""
    nodes = walk(source.tree) if source.tree is not None else ()
    return tuple(
        node.lineno for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == f"self.{name}"
    )


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(ast.unparse(kind) in ("Exception", "BaseException", "RuntimeError", "ValueError") for kind in kinds)


def _trains(node: ast.AST, steppers: frozenset[str]) -> bool:
    for call in walk(node):
        if not isinstance(call, ast.Call):
            continue
        if isinstance(call.func, ast.Attribute):
            name = call.func.attr
            if name == "backward" or steps_an_optimizer(call) or name in steppers:
                return True
        elif isinstance(call.func, ast.Name) and call.func.id in steppers:
            return True
    return False


def steps_an_optimizer(node: ast.AST) -> bool:
    """Whether a node is a call like `optimizer.step()` or `scaler.step(optimizer)`, no `scheduler.step()`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "step":
        return False
    return len(node.args) < _STEP_ARGUMENTS and "sched" not in ast.unparse(node.func.value).lower()


def _leaving(node: ast.AST) -> Iterator[ast.Call]:
    """Yields the calls that end the process without an error."""
    for call in walk(node):
        if not isinstance(call, ast.Call) or ast.unparse(call.func) not in exit_calls.WITH_CODE:
            continue
        if not call.args or (isinstance(call.args[0], ast.Constant) and not call.args[0].value):
            yield call


def leaves_with_success(statements: list[ast.stmt]) -> bool:
    """Whether a call among some statements ends the process without an error."""
    return any(True for statement in statements for _ in _leaving(statement))


def ends_in_raise(statements: list[ast.stmt]) -> bool:
    """Whether a block ends in a raise, or in an exit with an error."""
    last = statements[-1] if statements else None
    if isinstance(last, ast.Raise):
        return True
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        call = last.value
        return ast.unparse(call.func) in exit_calls.LEAVING and not leaves_with_success([last])
    return False


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches what a bug raises: it is bare, or names Exception or one as wide."""
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(last_name(kind) in _BROAD for kind in kinds)


def catches(handler: ast.ExceptHandler, name: str) -> bool:
    """Whether a handler names this exception."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is not None and last_name(kind) == name for kind in kinds)


def is_whole(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches every error."""
    return is_broad(handler) and "RuntimeError" not in (ast.unparse(handler.type) if handler.type else "")


def head(handler: ast.ExceptHandler) -> str:
    """Returns the first line of a handler, without its colon."""
    return ast.unparse(handler).splitlines()[0].rstrip(":")


def swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a handler says at most a word and goes on as if nothing had happened."""
    return all(_is_quiet(one, handler.name) for one in handler.body)


def _is_quiet(statement: ast.stmt, caught: str | None) -> bool:
    if isinstance(statement, ast.If):
        return all(_is_quiet(one, caught) for one in (*statement.body, *statement.orelse))
    if isinstance(statement, ast.AugAssign):
        return not _names(statement.value, caught)
    if isinstance(statement, ast.Return):
        value = statement.value
        return value is None or (isinstance(value, ast.Constant) and value.value is None)
    if isinstance(statement, ast.Assign):
        if not all(isinstance(one, ast.Name) for one in statement.targets):
            return False  # kept where others see it
        return isinstance(statement.value, (ast.Constant, ast.JoinedStr)) or (
            isinstance(statement.value, ast.Call) and bool(_TELLS.match(last_name(statement.value.func)))
        )
    if not isinstance(statement, _QUIET):
        return False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return bool(_TELLS.match(last_name(statement.value.func)))
    return True


def _names(value: ast.AST, name: str | None) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in walk(value))


def exits_with_success(call: ast.AST, function: Function, project: Project) -> bool:
    """Whether a call ends the process with code 0."""
    exits = exit_calls.WITH_CODE | {exit_calls.SYSTEM_EXIT}
    if not isinstance(call, ast.Call) or project.name(call.func, function) not in exits:
        return False
    return not call.args or (isinstance(call.args[0], ast.Constant) and call.args[0].value in (0, None, False))


def unconditional_calls(statements: list[ast.stmt]) -> Iterator[ast.Call]:
    """Yields the calls that each run of some statements comes to, if nothing raises before."""
    for one in statements:
        if isinstance(one, (ast.Expr, ast.Assign, ast.Return, ast.Raise)):
            yield from (node for node in walk(one) if isinstance(node, ast.Call))
        elif isinstance(one, (ast.With, ast.AsyncWith)):
            yield from unconditional_calls(one.body)
        elif isinstance(one, ast.Try):
            yield from unconditional_calls(one.body)
            yield from unconditional_calls(one.finalbody)


def tries_of(function: Function) -> Iterator[ast.Try]:
    """Yields the try statements of a function's own body."""
    return (one for one in function.nodes_of(ast.Try) if isinstance(one, ast.Try))


def leads_on(statements: list[ast.stmt]) -> bool:
    """Whether a raise stands somewhere in some statements, outside of functions defined there."""
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Raise):
            return True
        if not isinstance(node, (*Callable_.__args__, ast.ClassDef)):
            waiting += children(node)
    return False
