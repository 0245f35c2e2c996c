"""Takes the secrets out of a whole Python file: literals below names of secrets, whatever lines they are on. Pure.

The line forms see one line at a time; here the file is parsed, and what does not parse is left to them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared.secret_names import NONE, PIN, SURE, WEAK, strength
from diagnostics.agent.shared.secret_values import is_generated, is_nothing, is_secret_value, like_password
from diagnostics.agent.shared.trigger_words import HIDDEN
from diagnostics.core.python_syntax import parsed

_MOST = 4_000_000  # characters that are parsed
_Span = tuple[int, int, int, int]  # line and column (in bytes) where a literal begins and ends


def without_literals(text: str) -> str:
    """Returns the source with the secret literals replaced, of as many lines, and still valid Python."""
    if len(text) > _MOST:
        return text
    try:
        tree = parsed(text)
        spans = {span for name, value in _named(tree) for span in _spans(name, value)}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    return _replaced(text, spans) if spans else text


def _named(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yields (name, value) of each place where a value gets a name, or is compared with one."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _targets(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                yield _name(target), value
            case ast.AugAssign(target=target, value=value):
                yield _name(target), value
            case ast.keyword(arg=str(name), value=value):
                yield name, value
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield key.value, value
            case ast.Compare(left=left, comparators=[right]):
                yield _name(left), right
                yield _name(right), left
            case ast.arguments():
                yield from _defaults(node)
            case ast.Call(args=[*_, ast.Constant(value=str(name)), value]) if len(node.args) in (2, 3):
                yield name, value


def _targets(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, its in zip(target.elts, value.elts, strict=True):
            yield from _targets(one, its)
    else:
        yield _name(target), value


def _name(target: ast.expr) -> str:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
    return ""


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    for argument, default in zip(positional[first:], arguments.defaults, strict=True):
        yield argument.arg, default
    for argument, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if given is not None:
            yield argument.arg, given


def _spans(name: str, value: ast.expr) -> Iterator[_Span]:
    """Yields the places of the literals to hide: those that are the value, and those inside it that look like one."""
    if not name or strength(name) == NONE:
        return
    direct = set(_direct(value))
    for node in ast.walk(value):
        text = _text(node)
        if text is None or not isinstance(node, ast.expr) or node.end_lineno is None or node.end_col_offset is None:
            continue
        if _hides(name, text, direct=node in direct):
            yield node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _hides(name: str, text: str, *, direct: bool) -> bool:
    if text.isdigit():
        return direct and (strength(name) in (PIN, SURE)) and is_secret_value(name, text)
    if direct:
        return is_secret_value(name, text)
    return strength(name) >= WEAK and not is_nothing(text) and (is_generated(text) or like_password(text))


def _text(node: ast.AST) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Constant(value=bytes(data)):
            return data.decode("latin-1")
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return str(number)
        case ast.JoinedStr(values=values):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in values)
    return None


def _direct(value: ast.expr) -> Iterator[ast.expr]:
    """Yields what a value may be: itself, either side of a condition, the items of a tuple or of a dict."""
    match value:
        case ast.IfExp(body=body, orelse=other):
            yield from (*_direct(body), *_direct(other))
        case ast.BoolOp(values=values) | ast.Tuple(elts=values) | ast.List(elts=values) | ast.Set(elts=values):
            for one in values:
                yield from _direct(one)
        case ast.Dict(values=values):
            for one in values:
                yield from _direct(one)
        case ast.BinOp(left=left, right=right):
            yield from (*_direct(left), *_direct(right))
        case ast.Constant() | ast.JoinedStr():
            yield value


def _replaced(text: str, spans: set[_Span]) -> str:
    lines = text.split("\n")
    if any("\f" in line or "\r" in line[:-1] for line in lines) or text.count("\n") + 1 != len(lines):
        return text
    below = (len(lines) + 1, 0)
    for first, start, last, end in sorted(spans, key=lambda span: (-span[2], -span[3], span[0], span[1])):
        if (last, end) > below:
            continue  # inside one that is gone
        below = (first, start)
        head = lines[first - 1].encode()[:start].decode()
        tail = lines[last - 1].encode()[end:].decode()
        # As many lines as before, so that every line number stays true.
        empty = "\n" * (last - first)
        quote = "'" if lines[first - 1].encode()[start:].lstrip(b"rbfuRBFU").startswith(b"'") else '"'
        literal = f'"""{HIDDEN}{empty}"""' if empty else f"{quote}{HIDDEN}{quote}"
        lines[first - 1 : last] = f"{head}{literal}{tail}".split("\n")
    return "\n".join(lines)
