"""The fast walk over syntax gives what ast.walk gives, but for operators and contexts."""

from __future__ import annotations

import ast
from pathlib import Path

from diagnostics.static.program.ast_walk import FIELDS, children, walk

LEFT_OUT = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
EVERYTHING = """
@d(a=1)
async def f(a: int, /, b=1, *c, d: str = 'x', **e) -> None:
    global g
    async with a as b, c: pass
    async for x in y: break
    else: continue
    try: raise E from e
    except* (A, B) as error: del a.b[1:2, ::3]
    return await (yield), (yield from x), [x for x in y if z async for w in v], {**a}, {k: v for k, v in w}
class C(B, metaclass=M):
    x: int = 1
    y += -1 if a < b <= c else not d and e or (f := lambda q, *r: f"{q!r:>{w}} {a}")
match a:
    case {"k": [1, *rest], **more} | C(1, x=2) as whole if z: assert a, b
    case _: import a.b as c
"""


def test_it_gives_the_same_nodes_in_the_same_order() -> None:
    texts = [EVERYTHING, *(path.read_text() for path in sorted(Path(ast.__file__).parent.glob("a*.py")))]
    for text in texts:
        tree = ast.parse(text)
        assert list(walk(tree)) == [node for node in ast.walk(tree) if not isinstance(node, LEFT_OUT)]


def test_children_are_those_right_below() -> None:
    for node in walk(ast.parse(EVERYTHING)):
        assert children(node) == [one for one in ast.iter_child_nodes(node) if not isinstance(one, LEFT_OUT)]


def test_every_kind_of_node_has_its_fields() -> None:
    assert {kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)} == set(FIELDS)
