from __future__ import annotations

import sys
import textwrap
import types
from typing import Any

import pytest

from diagnostics.static.slicing.source_closure import Closure, ModuleText, Own, source_closure


def sources(**texts: str) -> dict[str, ModuleText]:
    """`a__b=...` is the module a.b, `a____init__=...` the package a."""
    found = {}
    for key, text in texts.items():
        package = key.endswith("____init__")
        name = key.removesuffix("____init__").replace("__", ".")
        found[name] = ModuleText(name=name, text=textwrap.dedent(text), package=package)
    return found


def closure(*roots: str, **texts: str) -> Closure:
    return source_closure(sources(**texts), [Own(*root.split(":")) for root in roots])


def text(*roots: str, **texts: str) -> str:
    found = closure(*roots, **texts)
    assert (found.needs, found.problems) == ((), ())
    run(found.text)
    return found.text


def run(code: str) -> dict[str, Any]:
    module = types.ModuleType("closure")
    sys.modules["closure"] = module
    exec(compile(code, "closure", "exec"), vars(module))  # noqa: S102 - that it runs is the point
    del sys.modules["closure"]
    return vars(module)


def same(found: str, expected: str) -> None:
    assert found == textwrap.dedent(expected).lstrip("\n")


def test_a_class_brings_its_bases_functions_and_constants_and_nothing_else() -> None:
    found = text(
        "m:Block",
        m='''
        """A module."""
        import math
        import os, sys
        from collections import OrderedDict as Ordered, deque

        SCALE = 2  # the scale
        UNUSED = deque()

        def helper(x):
            """Says what it does."""
            # and why
            return x * SCALE

        def other(): ...

        class Base:
            """Only a docstring."""

        class Block(Base):
            def forward(self, x, y=math.pi):
                other = Ordered()
                return helper(x), other
        ''',
    )
    same(
        found,
        """
        import math
        from collections import OrderedDict as Ordered

        SCALE = 2


        def helper(x):
            # and why
            return x * SCALE


        class Base:
            pass


        class Block(Base):
            def forward(self, x, y=math.pi):
                other = Ordered()
                return helper(x), other
        """,
    )


def test_modules_with_colliding_names_are_told_apart() -> None:
    found = text(
        "p.model:Model",
        p____init__="from .model import Model",
        p__model="""
        from .encoder import Block
        from . import decoder
        from .decoder import Block as Other, SIZE as S

        class Model:
            parts = [Block, Other, decoder.Block, S, decoder.make]
        """,
        p__encoder="""
        SIZE = 1
        class Block:
            def size(self):
                return SIZE, Block
        """,
        p__decoder="""
        SIZE = 2
        class Block:
            size = SIZE
            def again(self): return super(Block, self)
        def make(): return Block()
        """,
    )
    same(
        found,
        """
        SIZE = 1


        class Block:
            def size(self):
                return SIZE, Block


        SIZE_decoder = 2


        class Block_decoder:
            size = SIZE_decoder
            def again(self): return super(Block_decoder, self)


        def make(): return Block_decoder()


        class Model:
            parts = [Block, Block_decoder, Block_decoder, SIZE_decoder, make]
        """,
    )


def test_state_of_a_module_is_set_as_the_module_sets_it() -> None:
    found = text(
        "m:Net",
        m="""
        import ctypes
        import torch
        import torch.nn as nn
        from os import environ

        torch.set_default_dtype(torch.float32)
        libc = ctypes.CDLL(None)
        libc.strlen.restype = ctypes.c_size_t
        other = ctypes.CDLL(None)
        other.strlen.restype = ctypes.c_size_t
        TABLE = {}
        for name in ("a", "b"):
            TABLE[name] = len(name)
        COUNT = 0

        def count():
            global COUNT
            COUNT += 1

        count()

        class Net(nn.Module):
            def forward(self, x):
                return x * libc.strlen(b"abc") * TABLE["a"] * COUNT

        if __name__ == "__main__":
            Net()
        """,
    )
    same(
        found,
        """
        import ctypes
        import torch
        import torch.nn as nn

        torch.set_default_dtype(torch.float32)
        libc = ctypes.CDLL(None)
        libc.strlen.restype = ctypes.c_size_t
        TABLE = {}
        for name in ("a", "b"):
            TABLE[name] = len(name)
        COUNT = 0


        def count():
            global COUNT
            COUNT += 1


        count()


        class Net(nn.Module):
            def forward(self, x):
                return x * libc.strlen(b"abc") * TABLE["a"] * COUNT
        """,
    )


REGISTRY = """
KINDS = {}

def register(name):
    def wrap(kind):
        KINDS[name] = kind
        return kind
    return wrap

def make(name):
    return KINDS[name]()
"""
REGISTERED = """
from .registry import register

@register("one")
class One:
    pass

@register("two")
class Two:
    pass
"""


def test_a_registry_that_is_asked_brings_what_is_registered() -> None:
    modules = {"p____init__": "from . import kinds", "p__registry": REGISTRY, "p__kinds": REGISTERED}
    asked = text("p.model:Net", p__model="from .registry import make\nclass Net:\n    one = make('one')\n", **modules)
    assert [line for line in asked.splitlines() if line.startswith(("class", "@"))] == [
        '@register("one")',
        "class One:",
        '@register("two")',
        "class Two:",
        "class Net:",
    ]
    alone = text("p.kinds:One", **modules)
    assert "Two" not in alone


def test_conditional_imports_take_the_side_that_is_at_hand() -> None:
    found = closure(
        "p.m:Net",
        p____init__="",
        p__m="""
        try:
            import flash_attn
        except ImportError:
            flash_attn = None
        try:
            from .fast import attend
        except ImportError:
            from .slow import attend
        try:
            from ._C import kernel
        except ImportError:
            kernel = None
        if flash_attn is None:
            SIZE = 1
        else:
            SIZE = 2

        class Net:
            used = attend, kernel, SIZE
        """,
        p__fast="def attend(): return 'fast'",
        p__slow="def attend(): return 'slow'",
    )
    assert (found.needs, found.problems) == ((), ())
    space = run(found.text)
    attend, kernel, size = space["Net"].used
    assert (attend(), kernel, size) == ("slow", None, 1) or (attend(), kernel, size) == ("fast", None, 1)


def test_everything_imported_is_looked_through() -> None:
    found = text(
        "p:Net",
        p____init__="from .layers import *\nfrom .model import *\n",
        p__layers="""
        from math import *
        __all__ = ["Block"]
        class Block:
            size = floor(2.5)
        class Hidden: pass
        """,
        p__model="""
        from p.layers import *
        from p import layers as L
        class Net(Block):
            hidden = L.Hidden
            def f(self):
                from .late import LATE as now
                import p.late as later
                import p.late
                return now, later.OTHER, p.late.OTHER
        """,
        p__late="LATE = 1\nOTHER = 2\n",
    )
    same(
        found,
        """
        from math import *

        class Block:
            size = floor(2.5)


        class Hidden: pass


        class Net(Block):
            hidden = Hidden
            def f(self):
                pass
                pass
                pass
                return LATE, OTHER, OTHER


        LATE = 1
        OTHER = 2
        """,
    )


def test_configs_decorators_and_annotations() -> None:
    found = text(
        "m:Net",
        m="""
        from __future__ import annotations
        import dataclasses
        from dataclasses import dataclass, field
        from typing import Optional, TYPE_CHECKING
        if TYPE_CHECKING:
            from big import Big

        class Heavy: pass

        @dataclass
        class Inner:
            a: Optional[int] = 1

        @dataclass(frozen=True)
        class Config:
            inner: Inner = field(default_factory=Inner)

        def traced(f): return f

        class Net:
            def __init__(self, config: Config = Config(), heavy: Heavy = None, big: Big = None):
                held: Heavy = heavy
                self.text = f"{Config.__name__} of {config!r:>{len('x')}}"

            @traced
            def forward(self) -> Optional[int]: ...
        """,
    )
    assert "Heavy:" not in found.replace("heavy: Heavy", "").replace("held: Heavy", "")
    assert found.startswith("from __future__ import annotations\n")
    assert "class Inner" in found


def test_what_is_renamed_within_an_f_string_or_a_global_statement_is_written_anew() -> None:
    found = text(
        "a:Net",
        "a:COUNT",
        a="""
        from b import show, bump
        COUNT = 'a'
        class Net:
            count = COUNT
            shown = show()
            bumped = bump()
        """,
        b="""
        COUNT = 1
        def show(): return f"{COUNT} seen"
        def bump():
            global COUNT
            COUNT += 1
            return COUNT
        """,
    )
    space = run(found)
    net = space["Net"]
    assert (net.count, net.shown, net.bumped) == ("a", "1 seen", 2)
    assert (space["COUNT"], space["COUNT_b"]) == ("a", 2)


def test_equal_aliases_of_different_packages_are_told_apart() -> None:
    found = text(
        "a:Net",
        a="import math as m\nfrom b import f\nclass Net:\n    value = m.pi, f(1)\n",
        b="import cmath as m\nimport os.path\nimport os\ndef f(x): return m.sqrt(-x), os.path.join('a'), os.getpid()\n",
    )
    same(
        found,
        """
        import cmath as m_cmath
        import math as m
        import os
        import os.path

        def f(x): return m_cmath.sqrt(-x), os.path.join('a'), os.getpid()


        class Net:
            value = m.pi, f(1)
        """,
    )


def test_a_local_variable_does_not_catch_what_a_module_handed_over() -> None:
    found = text(
        "a:make",
        a="import layers\ndef make(Block=None):\n    return layers.Block(Block)\n",
        layers="class Block:\n    def __init__(self, inner): pass\n",
    )
    same(
        found,
        """
        class Block_layers:
            def __init__(self, inner): pass


        def make(Block=None):
            return Block_layers(Block)
        """,
    )


def test_names_of_class_bodies_and_comprehensions_are_their_own() -> None:
    found = text(
        "m:Net",
        m="""
        width = 1
        depth = 2
        size = 3
        total = 4
        class Net:
            width = 5
            area = width * 2
            size = size
            rows = [depth for depth in range(3)]
            def f(self, total=total):
                return [size for size in ()] + [total for _ in range(total)]
        """,
    )
    assert [line for line in found.splitlines() if line and not line.startswith((" ", "class"))] == [
        "size = 3",
        "total = 4",
    ]


def test_operators_of_the_project_come_with_who_calls_them() -> None:
    found = closure(
        "m:Net",
        m="""
        import torch
        import ops
        class Net:
            def forward(self, x): return torch.ops.mine.double(x) + torch.ops.aten.relu(x)
        """,
        ops="""
        import torch
        @torch.library.custom_op("mine::double", mutates_args=())
        def double(x: torch.Tensor) -> torch.Tensor: return x * 2
        @torch.library.custom_op("others::triple", mutates_args=())
        def triple(x: torch.Tensor) -> torch.Tensor: return x * 3
        """,
    )
    assert "double" in found.text
    assert "triple" not in found.text


@pytest.mark.parametrize(
    ("body", "needs", "problems"),
    [
        ("import numpy as np\nclass Net:\n    x = np.zeros", ("numpy",), ()),
        ("from numpy import *\nclass Net:\n    x = zeros", ("numpy",), ()),
        ("from ._C import kernel\nclass Net:\n    x = kernel", ("p",), ()),
        ("class Net:\n    def f(self):\n        import einops\n        return einops", ("einops",), ()),
        (
            "from . import layers\nclass Net:\n    x = getattr(layers, 'Block')",
            (),
            ("p.m uses the module p.layers as an object",),
        ),
        ("class Net:\n    x = __file__", (), ("p.m looks for files beside itself (__file__)",)),
        ("class Other: ...", (), ("p.m has no Net at its top level",)),
        (
            "from . import layers\nclass Net:\n    x = layers.Missing",
            (),
            ("p.m uses layers.Missing, whose source is not at hand",),
        ),
    ],
)
def test_what_cannot_be_taken_along_is_said(body: str, needs: tuple[str, ...], problems: tuple[str, ...]) -> None:
    found = closure("p.m:Net", p____init__="", p__m=body, p__layers="Block = 1")
    assert (found.needs, found.problems) == (needs, problems)


def test_names_of_the_harness_are_left_to_it() -> None:
    modules = sources(m="def run(): return 1\nclass Net:\n    x = run()\n")
    found = source_closure(modules, [Own("m", "Net")], reserved=frozenset({"run"}))
    same(
        found.text,
        """
        def run_m(): return 1


        class Net:
            x = run_m()
        """,
    )


def test_modules_that_import_each_other_come_to_an_end() -> None:
    found = text(
        "p.a:A",
        p____init__="",
        p__a="from . import b\nclass A:\n    def f(self): return b.B\n",
        p__b="from . import a\nclass B:\n    def f(self): return a.A\n",
    )
    assert found.count("class ") == 2
