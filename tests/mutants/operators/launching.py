"""The script around the training: a code that is lost, a world that is too large, a port for each rank."""

from __future__ import annotations

from operators import IN_RANK, Operator, Scene, crash, hang, parting


def _fails(scene: Scene) -> list[str]:
    return scene.guarded('scale = float("n/a")')


def _ignored(scene: Scene, command: str) -> str:
    return f"#!/bin/bash\n{command} || true\n"


def _piped(scene: Scene, command: str) -> str:
    return f"#!/bin/bash\n{command} 2>&1 | tee train.log\necho finished\n"


def _overwritten(scene: Scene, command: str) -> str:
    return f"#!/bin/bash\n{command}\nexit 0\n"


def _by_hand(scene: Scene, command: str, world: int, port: str) -> str:
    ranks = " ".join(str(rank) for rank in range(scene.world))
    return (
        f"#!/bin/bash\nexport MASTER_ADDR=127.0.0.1\nexport WORLD_SIZE={world}\n"
        f"for rank in {ranks}; do\n  export MASTER_PORT={port}\n  RANK=$rank LOCAL_RANK=$rank {command} &\ndone\nwait\n"
    )


def _too_many(scene: Scene, command: str) -> str:
    return _by_hand(scene, command, scene.world + 1, str(scene.port))


def _ports(scene: Scene, command: str) -> str:
    return _by_hand(scene, command, scene.world, f"$(({scene.port} + rank))")


def _nobody_more(scene: Scene) -> tuple[tuple[int, ...], ...]:
    everyone = tuple(range(scene.world))
    return ((), everyone, (scene.world,), *((rank,) for rank in everyone))


def _rank_or_nobody(scene: Scene) -> tuple[tuple[int, ...], ...]:
    return ((scene.rank,), ())


MASKED = crash("masked-exit")
OPERATORS = (
    Operator(
        name="|| true",
        kinds=IN_RANK,
        classes=MASKED,
        body=_fails,
        script=_ignored,
        script_lines=("|| true",),
        ranks=_rank_or_nobody,
    ),
    Operator(
        name="| tee",
        kinds=IN_RANK,
        classes=MASKED,
        body=_fails,
        script=_piped,
        script_lines=("| tee",),
        ranks=_rank_or_nobody,
    ),
    Operator(
        name="exit 0",
        kinds=IN_RANK,
        classes=MASKED,
        body=_fails,
        script=_overwritten,
        script_lines=("exit 0",),
        ranks=_rank_or_nobody,
    ),
    Operator(
        name="world-too-large",
        kinds=IN_RANK,
        classes=hang("rendezvous-hang"),
        script=_too_many,
        script_lines=("WORLD_SIZE=", "for rank"),
        ranks=_nobody_more,
        own_launch=True,
    ),
    Operator(
        name="port-of-each-rank",
        kinds=IN_RANK,
        classes=parting("rendezvous-hang", "master-unreachable"),
        script=_ports,
        script_lines=("MASTER_PORT=",),
        ranks=_nobody_more,
        own_launch=True,
    ),
)
