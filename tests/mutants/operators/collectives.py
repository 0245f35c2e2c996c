"""Collectives under a test of the rank, and collectives in which the ranks disagree."""

from __future__ import annotations

from operators import LOOPS, Operator, Scene, either, parting

IMPORTS = ("import torch", "import torch.distributed as dist")
UNSHARED = parting("collective-missing", "collective-mismatch")
MISMATCH = parting("collective-mismatch")
PLACES = (*LOOPS, "hook")


def _lone(*statements: str, name: str) -> Operator:
    return Operator(
        name=name, kinds=PLACES, classes=UNSHARED, body=lambda scene: scene.guarded(*statements), imports=IMPORTS
    )


def _order(scene: Scene) -> list[str]:
    return scene.for_all(
        "first, second = torch.ones(2), torch.ones(5)",
        f"for part in (second, first) if {scene.mine} else (first, second):",
        "    dist.all_reduce(part)",
    )


def _kinds_order(scene: Scene) -> list[str]:
    return scene.for_all(
        "seen = torch.ones(3)",
        f"if {scene.mine}:",
        "    dist.barrier()",
        "dist.all_reduce(seen)",
        f"if not {scene.mine}:",
        "    dist.barrier()",
    )


def _shape(scene: Scene) -> list[str]:
    return scene.for_all(f"seen = torch.zeros(8 if {scene.mine} else 4)", "dist.all_reduce(seen)")


def _dtype(scene: Scene) -> list[str]:
    return scene.for_all(
        f"seen = torch.zeros(4, dtype=torch.float64 if {scene.mine} else torch.float32)", "dist.all_reduce(seen)"
    )


def _root(scene: Scene) -> list[str]:
    return scene.for_all(
        "chosen = torch.zeros(4)", f"dist.broadcast(chosen, src={scene.other} if {scene.mine} else {scene.rank})"
    )


def _reduce(scene: Scene) -> list[str]:
    return scene.for_all(
        "seen = torch.zeros(4)",
        f"if {scene.mine}:",
        "    dist.reduce(seen, dst=0)",
        "else:",
        "    dist.all_reduce(seen)",
    )


def _group(scene: Scene) -> list[str]:
    return scene.for_all(
        f"everyone = dist.new_group(list(range({scene.world})))",
        "seen = torch.zeros(4)",
        f"dist.all_reduce(seen, group=dist.group.WORLD if {scene.mine} else everyone)",
    )


def _receive(scene: Scene) -> list[str]:
    return scene.guarded("part = torch.zeros(4)", f"dist.recv(part, src={scene.other})")


OPERATORS = (
    _lone("dist.barrier()", name="lone-barrier"),
    _lone("seen = torch.ones(2)", "dist.all_reduce(seen)", name="lone-all_reduce"),
    _lone("seen = [None] * dist.get_world_size()", "dist.all_gather_object(seen, 1)", name="lone-all_gather_object"),
    Operator(name="other-order", kinds=PLACES, classes=MISMATCH, body=_order, imports=IMPORTS, ranks=either),
    Operator(
        name="barrier-before-or-after", kinds=PLACES, classes=MISMATCH, body=_kinds_order, imports=IMPORTS, ranks=either
    ),
    Operator(name="other-shape", kinds=PLACES, classes=MISMATCH, body=_shape, imports=IMPORTS, ranks=either),
    Operator(name="other-dtype", kinds=PLACES, classes=MISMATCH, body=_dtype, imports=IMPORTS, ranks=either),
    Operator(name="other-root", kinds=PLACES, classes=MISMATCH, body=_root, imports=IMPORTS, ranks=either),
    Operator(name="other-operation", kinds=PLACES, classes=MISMATCH, body=_reduce, imports=IMPORTS, ranks=either),
    Operator(name="other-group", kinds=PLACES, classes=MISMATCH, body=_group, imports=IMPORTS, ranks=either),
    Operator(
        name="lone-recv",
        kinds=PLACES,
        classes=parting("p2p-deadlock", "collective-missing", "collective-mismatch"),
        body=_receive,
        imports=IMPORTS,
    ),
)
