"""A decorator or a context manager swallows every exception of the training in it.

What it does: flags decorators of the project that catch every error of the function they wrap and return, `with` blocks
whose `__exit__` always gives back a true value or whose `@contextmanager` catches every error or a lack of memory at
its yield, `contextlib.suppress(Exception)`, and loguru's `catch` without `reraise=True`, around a training.

Why it matters: the error is written down at best. The process ends with code 0, the launcher and every script after it
take the failed training for a finished one; where one rank alone failed, it goes on without the others.

Bad:

    def log_errors(function):
        def wrapped(*args):
            try:
                return function(*args)
            except Exception:
                log.exception("failed")
        return wrapped

Good:

            except Exception:
                log.exception("failed")
                raise

What it cannot see: wrappers of libraries other than loguru, and callers that look at what a wrapper gives back.
Tests are left alone: they look at what a failed training leaves.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import head, is_whole, leads_on, tries_of
from diagnostics.static.program.exit_calls import LEAVING
from diagnostics.static.program.functions import Function, default_of, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import TrainingFunctions
from diagnostics.static.torch_code.training_loops import innermost_loop

CODE = "A513"
NAME = "wrapper-swallows-exception"
SEVERITY = Severity.ERROR
WORDS = ("except", "with", "catch")
_ALL = {"Exception", "BaseException", "RuntimeError"}
_OF_MEMORY = {"OutOfMemoryError"}
_TITLE = "the process ends with code 0 after a failed training"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the wrappers that swallow what a training raises."""
    for function in () if file.is_test else project.functions_in(file):
        yield from _decorating(file, function, project)
        yield from _caught_by_loguru(file, function, project)
        for node in function.nodes_of((ast.With, ast.AsyncWith)):
            if isinstance(node, (ast.With, ast.AsyncWith)):
                yield from _around(file, node, function, project)


def _decorating(file: ProjectFile, wrapped: Function, project: Project) -> Iterator[Violation]:
    """Yields the handler of a decorator's inner function, where what it decorates trains."""
    decorator = wrapped.outer
    if decorator is None or len(decorator.parameters) <= decorator.implied or decorator.name == "<module>":
        return
    name = decorator.name.rpartition(".")[2]
    if name == "<lambda>" or not (decorated := project.decorated_with.get(name)):
        return
    training = project.fact(TrainingFunctions).training
    first = next((one for one in decorated if id(one) in training), None)
    for block in tries_of(wrapped) if first is not None else ():
        calls = [node for part in block.body for node in walk(part) if isinstance(node, ast.Call)]
        inner = next((one for one in calls if last_name(one.func) == decorator.parameters[decorator.implied]), None)
        handler = next((one for one in block.handlers if is_whole(one) or _names_exception(one)), None)
        behind = [node for node in wrapped.nodes_of(ast.Raise) if isinstance(node, ast.Raise)]
        if any(not any(node is part for one in block.handlers for part in walk(one)) for node in behind):
            continue  # it tries again, and raises at last
        if inner is None or handler is None or first is None or _tells(_without_options(handler, decorator, first)):
            continue
        yield violation(
            file,
            handler,
            f"`{head(handler)}` in {name} swallows every error of {first.name}: {_TITLE}",
            "end the handler with `raise`",
            steps=(
                step(project.file_with(first), first.syntax, f"{first.name} trains, and is decorated with {name}"),
                step(file, inner, "it is called here"),
            ),
            confidence=Confidence.CONFIRMED,
        )


def _names_exception(handler: ast.ExceptHandler) -> bool:
    return handler.type is not None and last_name(handler.type) in _ALL


def _without_options(handler: ast.ExceptHandler, decorator: Function, decorated: Function) -> list[ast.stmt]:
    """Returns a handler's statements but those under an option that is off by default: `if reraise: raise`."""
    used = [one for one in getattr(decorated.syntax, "decorator_list", ()) if isinstance(one, ast.Call)]
    given = {keyword.arg for one in used for keyword in one.keywords}
    off = {name for name in decorator.parameters if name not in given and _is_off(default_of(decorator, name))}
    return [
        one
        for one in handler.body
        if not (isinstance(one, ast.If) and isinstance(one.test, ast.Name) and one.test.id in off)
    ]


def _is_off(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _tells(statements: list[ast.stmt]) -> bool:
    """Whether a handler raises, leaves the process, or gives back what a caller may look at."""
    if leads_on(statements):
        return True
    for node in (one for statement in statements for one in walk(statement)):
        if isinstance(node, ast.Return) and not (node.value is None or _is_none(node.value)):
            return True
        if isinstance(node, ast.Call) and ast.unparse(node.func) in LEAVING:
            return True
    return False


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _caught_by_loguru(file: ProjectFile, function: Function, project: Project) -> Iterator[Violation]:
    if id(function) not in project.fact(TrainingFunctions).training:
        return
    module = project.module_of(file)
    for one in getattr(function.syntax, "decorator_list", ()):
        if _is_loguru(one, module, project):
            yield violation(
                file,
                one,
                f"`{ast.unparse(one)}` writes down every error of {function.name} and returns: {_TITLE}",
                "@logger.catch(reraise=True)",
                steps=(step(file, function.syntax, f"{function.name} trains"),),
                confidence=Confidence.CONFIRMED,
            )


def _is_loguru(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether an expression is loguru's catch that neither raises again nor calls somebody."""
    call = value.func if isinstance(value, ast.Call) else value
    keywords = {one.arg for one in value.keywords} if isinstance(value, ast.Call) else set()
    return project.name(call, function) == "loguru.logger.catch" and not keywords & {"reraise", "onerror", None}


def _around(
    file: ProjectFile, block: ast.With | ast.AsyncWith, function: Function, project: Project
) -> Iterator[Violation]:
    """Yields a `with` around a training that swallows what it raises."""
    contexts = [one.context_expr for one in block.items]
    found = next((place for one in contexts if (place := _swallowing(one, function, project)) is not None), None)
    if found is None and innermost_loop(block, function, file) is None:  # what leaves out a step is meant to
        found = next((place for one in contexts if (place := _yielding(one, function, project)) is not None), None)
    if found is None:
        return
    trained = project.fact(TrainingFunctions).training_call(block.body, function)
    if trained is None:
        return
    node, where, what = found
    yield violation(
        project.file_with(where) if where is not function else file,
        node,
        f"{what} swallows {_which(node)} of {ast.unparse(trained.func)}(...): {_TITLE}",
        "end the handler with `raise`"
        if isinstance(node, ast.ExceptHandler)
        else "give back None or False from __exit__, so that the error goes on"
        if where is not function
        else "leave it out",
        steps=(step(file, block, "the training runs in this block"), step(file, trained, "an error in it ends there")),
        confidence=Confidence.CONFIRMED,
    )


def _which(node: ast.AST) -> str:
    of_memory = isinstance(node, ast.ExceptHandler) and node.type is not None and not _names(node.type) & _ALL
    return "an out-of-memory error" if of_memory else "every error"


def _swallowing(context: ast.expr, function: Function, project: Project) -> tuple[ast.AST, Function, str] | None:
    """Returns what swallows, where it stands and what it is called."""
    if isinstance(context, ast.Call) and project.name(context.func, function) == "contextlib.suppress":
        return (context, function, "suppress()") if {last_name(one) for one in context.args} & _ALL else None
    if _is_loguru(context, function, project):
        return context, function, "logger.catch()"
    for kind in project.kinds(context, function):
        leaves = project.method(kind, "__exit__")
        if leaves is None or isinstance(leaves.syntax, ast.Lambda) or leads_on(leaves.syntax.body):
            continue
        last = leaves.syntax.body[-1]
        if isinstance(last, ast.Return) and _is_true(last.value, leaves, project):
            return last, leaves, f"{kind.name}.__exit__"
    return None


def _yielding(context: ast.expr, function: Function, project: Project) -> tuple[ast.AST, Function, str] | None:
    """Returns the handler around the yield of a @contextmanager that lets no error, or none of memory, go on."""
    for one in project.targets(context, function) if isinstance(context, ast.Call) else ():
        if not any(last_name(each) == "contextmanager" for each in getattr(one.syntax, "decorator_list", ())):
            continue
        for block in tries_of(one):
            yields = any(isinstance(node, ast.Yield) for part in block.body for node in walk(part))
            behind = [node for node in one.nodes_of(ast.Raise) if not any(node is each for handler in block.handlers
                      for each in walk(handler))]  # fmt: skip
            for handler in block.handlers if yields and not behind else ():
                named = handler.type is not None and bool(_names(handler.type) & (_ALL | _OF_MEMORY))
                if (is_whole(handler) or named) and not _tells_by_all(handler.body):
                    return handler, one, f"`{head(handler)}` around the yield of {one.name.rpartition('.')[2]}"
    return None


def _names(kinds: ast.expr) -> set[str]:
    return {last_name(one) for one in (kinds.elts if isinstance(kinds, ast.Tuple) else [kinds])}


def _tells_by_all(statements: list[ast.stmt]) -> bool:
    """Whether a handler raises again or leaves, or keeps the error for somebody."""
    nodes = [node for one in statements for node in walk(one)]
    stores = any(isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store) for node in nodes)
    raises = any(isinstance(node, ast.Raise) for node in nodes)
    return raises or stores or _tells(statements)


def _is_true(value: ast.expr | None, function: Function, project: Project, depth: int = 2) -> bool:
    """Whether a value is true whatever happens: True, the object itself, or a call that gives back no other."""
    if isinstance(value, ast.Call) and depth:
        targets = project.targets(value, function)
        returns = [
            (node.value, one) for one in targets for node in one.nodes_of(ast.Return) if isinstance(node, ast.Return)
        ]
        return bool(returns) and all(_is_true(one, where, project, depth - 1) for one, where in returns)
    return (isinstance(value, ast.Constant) and value.value is True) or (
        isinstance(value, ast.Name) and value.id == "self"
    )
