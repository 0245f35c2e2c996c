"""What `from module import *` binds: through packages, chains and circles of modules."""

from __future__ import annotations

import ast

import pytest

from diagnostics.static.program.distributed_names import names_of_distributed
from diagnostics.static.program.modules.public_names import PUBLIC_NAMES
from diagnostics.static.program.modules.star_imports import listed_names
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

PROCESS_GROUP = "import torch.distributed as dist\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n"


def meant(name: str, **texts: str) -> str:
    """Returns the full name of what a name means in main.py, a name that is called there."""
    files = [
        ProjectFile(f"{path.replace('__', '/').replace('/init', '/__init__')}.py", text.encode(), FileKind.PYTHON)
        for path, text in {"main": f"{texts.pop('main')}\n{name}()\n", **texts}.items()
    ]
    project = Project(files)
    call = next(call for call, _ in project.calls_in(files[0]) if ast.unparse(call.func) == name)
    return project.name(call.func, project.module_of(files[0]))


@pytest.mark.parametrize(
    ("name", "full", "texts"),
    [
        ("DDP", "torch.nn.parallel.DistributedDataParallel", {"common": PROCESS_GROUP}),
        ("dist.barrier", "torch.distributed.barrier", {"common": PROCESS_GROUP}),
        ("net", "common.net", {"common": "def net(): pass"}),
        ("net", "common.net", {"common": "try:\n    net = make()\nexcept ImportError:\n    pass"}),
        ("_net", "_net", {"common": "def _net(): pass"}),
        ("_net", "common._net", {"common": "__all__ = ['_net']\ndef _net(): pass"}),
        ("DDP", "DDP", {"common": f"__all__ = ('dist',)\n{PROCESS_GROUP}"}),
        ("DDP", "torch.nn.parallel.DistributedDataParallel", {"common": f"__all__ = names()\n{PROCESS_GROUP}"}),
        ("DDP", "torch.nn.parallel.DistributedDataParallel", {"common": "from base import *", "base": PROCESS_GROUP}),
        ("DDP", "DDP", {"common": "from base import *\n__all__ = ['dist']", "base": PROCESS_GROUP}),
        ("DDP", "torch.nn.parallel.DistributedDataParallel",
         {"common": "from base import *", "base": f"from common import *\nfrom base import *\n{PROCESS_GROUP}"}),
        ("DDP", "torch.nn.parallel.DistributedDataParallel",
         {"common__init": "from .base import *", "common__base": PROCESS_GROUP}),
        ("base.net", "common.base.net", {"common__init": "__all__ = ['base']", "common__base": "def net(): pass"}),
        ("Adam", "torch.optim.Adam", {"common": "from torch.optim import *"}),
        ("sum", "sum", {"common": "from torch import *"}),
        ("Adam", "Adam", {"common": "from optimizers_of_others import *"}),
    ],
)  # fmt: skip
def test_a_star_import_binds_what_the_module_hands_over(name: str, full: str, texts: dict[str, str]) -> None:
    assert meant(name, main="from common import *", **texts) == full


@pytest.mark.parametrize(
    ("main", "full"),
    [
        ("from common import *\ndef DDP(): pass", "main.DDP"),
        ("from common import *\nfrom mine import DDP", "mine.DDP"),
        ("from mine import DDP\nfrom common import *", "torch.nn.parallel.DistributedDataParallel"),
        ("from mine import DDP\nfrom torch.nn.parallel import *", "mine.DDP"),
        ("from common import *\nfrom later import *", "later.DDP"),
        ("from common import *\nfrom torch.nn.parallel import *", "torch.nn.parallel.DistributedDataParallel"),
    ],
)
def test_what_a_file_binds_itself_or_later_goes_before(main: str, full: str) -> None:
    assert meant("DDP", main=main, common=PROCESS_GROUP, later="class DDP: pass") == full


def test_two_modules_of_one_name_are_told_apart_by_their_folders() -> None:
    texts = {"a__main": "from common import *\nnet()", "a__common": "from torch.nn import Linear as net",
             "b__common": "def net(): pass"}  # fmt: skip
    files = [ProjectFile(f"{path.replace('__', '/')}.py", text.encode(), FileKind.PYTHON)
             for path, text in texts.items()]  # fmt: skip
    project = Project(files)
    call, function = next(project.calls_in(files[0]))
    assert project.name(call.func, function) == "torch.nn.Linear"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x = 1", None),
        ("__all__ = ['a', 'b']", ("a", "b")),
        ("__all__: list[str] = ['a'] + ['b']", ("a", "b")),
        ("__all__ = ['a']\n__all__ += ['b']\n__all__.append('c')\n__all__.extend(('d',))", ("a", "b", "c", "d")),
        ("__all__ = ['a']\n__all__ += base.__all__", None),
        ("__all__ = []", ()),
    ],
)
def test_the_names_that_a_module_lists(text: str, names: tuple[str, ...] | None) -> None:
    assert listed_names(ast.parse(text)) == names


def test_libraries_have_the_names_that_are_said_of_them() -> None:
    torch = pytest.importorskip("torch")
    lacking = []
    for module, names in PUBLIC_NAMES.items():
        home = torch
        for part in module.split(".")[1:]:
            home = getattr(home, part)
        lacking += [f"{module}.{name}" for name in sorted(names) if not hasattr(home, name)]
    assert lacking in ([], ["torch.distributed.all_gather_single"])


def test_a_star_import_of_the_operations_binds_those_that_the_file_does_not_define() -> None:
    tree = ast.parse("from torch.distributed import *\ndef barrier(): pass\n")
    assert "all_reduce" in names_of_distributed(tree)
    assert "barrier" not in names_of_distributed(tree)
