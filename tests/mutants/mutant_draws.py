"""A mutant is drawn: program, operator, anchor, rank and step; its truth is known from how it was made."""

from __future__ import annotations

import ast
import random
import shlex
import shutil
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import mutant_places
from mutant_programs import ENVIRONMENT, Place, Program
from operators import Operator, Scene

SCRIPT = "run.sh"
TOLERANCE = 2  # lines
TRIES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One faulty program and what is true about it. `lines` are right as "file:line"."""

    number: int
    source: Program
    operator: str
    family: str
    scene: Scene
    place: Place
    folder: Path
    command: tuple[str, ...]
    classes: Mapping[str, frozenset[str]]
    ranks: tuple[tuple[int, ...], ...]
    lines: tuple[str, ...]
    signal: int | None

    @property
    def program(self) -> str:
        """The program's name."""
        return self.source.name

    @property
    def name(self) -> str:
        """Short, and one of a kind in its draw."""
        letters = "".join(letter if letter.isalnum() else "-" for letter in self.operator)
        return f"{self.number:03d}-{self.program}-{letters}"


def draw(
    count: int, seed: int, programs: Mapping[str, Program], folders: Mapping[str, Path],
    operators: Sequence[tuple[str, Operator]], above: Path,
) -> list[Mutant]:  # fmt: skip
    """Makes `count` mutants below a folder. The same seed over the same programs and operators makes the same ones."""
    chance = random.Random(seed)
    mutants: list[Mutant] = []
    deck: list[tuple[str, Operator]] = []
    while len(mutants) < count:
        # Every operator once before any comes again.
        deck = deck or chance.sample(operators, len(operators))
        family, operator = deck.pop()
        mutant = _one(len(mutants), chance, programs, folders, family, operator, above)
        if mutant is not None:
            mutants.append(mutant)
    return mutants


def _one(
    number: int, chance: random.Random, programs: Mapping[str, Program], folders: Mapping[str, Path], family: str,
    operator: Operator, above: Path,
) -> Mutant | None:  # fmt: skip
    for _ in range(TRIES):
        program = programs[chance.choice(sorted(programs))]
        places = [place for place in program.places if fits(operator, program, place)]
        if not places:
            continue
        place = chance.choice(places)
        first, last = place.steps
        scene = Scene(
            rank=chance.randrange(program.world), world=program.world, step=chance.randint(first, last),
            rank_text=place.rank, step_text=place.step, loss=place.loss, port=free_port(),
        )  # fmt: skip
        source = (folders[program.name] / place.file).read_text()
        mutated = mutated_file(source, operator, place, scene, chance)
        if mutated is not None or (operator.body is None and operator.iterable is None):
            return _written(number, program, folders[program.name], place, operator, family, scene, mutated, above)
    return None


def fits(operator: Operator, program: Program, place: Place) -> bool:
    """Whether an operator makes sense at a place."""
    if (operator.own_launch and not program.environ) or (operator.about_loss and not place.loss):
        return False
    if (operator.iterable is not None or "continue" in operator.name or "break" in operator.name) and not place.loop:
        return False
    return place.kind in operator.kinds and (place.leaves or not operator.leaves)


def mutated_file(
    source: str, operator: Operator, place: Place, scene: Scene, chance: random.Random
) -> mutant_places.Mutated | None:
    """Returns the file with the fault in it; None where the operator has no business in this function."""
    imports = tuple(dict.fromkeys((*place.imports, *operator.imports)))
    names = {mutant_places.bound_by(one) for one in imports}
    if names & mutant_places.assigned(source, place.function):
        return None
    try:
        if operator.iterable is not None:
            mutated = mutant_places.with_iterable(source, place, operator.iterable(scene), imports)
        elif operator.body is not None:
            lines = mutant_places.anchors(source, place)
            if operator.about_loss:
                lines = mutant_places.after_assignment(source, place, place.loss)
            line = chance.choice(lines)
            mutated = mutant_places.with_statements(source, line, operator.body(scene), imports)
        else:
            return None
        ast.parse(mutated.text)
        compile(mutated.text, place.file, "exec")
    except (SyntaxError, ValueError, IndexError):
        return None
    return mutated


def _written(
    number: int, program: Program, healthy: Path, place: Place, operator: Operator, family: str, scene: Scene,
    mutated: mutant_places.Mutated | None, above: Path,
) -> Mutant:  # fmt: skip
    lines: list[str] = []
    folder = above / f"{number:03d}"
    shutil.copytree(healthy, folder)
    if mutated is not None:
        (folder / place.file).write_text(mutated.text)
        lines += near(place.file, mutated.lines)
    command = program.command
    if operator.script is not None:
        text = operator.script(scene, shlex.join(_of_one_rank(command) if operator.own_launch else command))
        (folder / SCRIPT).write_text(text)
        rows = text.splitlines()
        marked = [n for n, row in enumerate(rows, 1) if any(mark in row for mark in operator.script_lines)]
        lines += [one for n in marked for one in near(SCRIPT, range(n, n + 1))]
        command = ("bash", SCRIPT)
    return Mutant(
        number=number, source=program, operator=operator.name, family=family, scene=scene, place=place,
        folder=folder, command=command, classes=operator.classes, ranks=operator.ranks(scene), lines=tuple(lines),
        signal=operator.signal,
    )  # fmt: skip


def near(file: str, lines: range) -> list[str]:
    """Returns the lines of a fault and those that are close enough to it."""
    return [f"{file}:{line}" for line in range(max(1, lines.start - TOLERANCE), lines.stop + TOLERANCE)]


def _of_one_rank(command: Sequence[str]) -> list[str]:
    """Returns the command without its launcher: `torchrun --standalone --nproc-per-node 2 train.py` is one rank's."""
    script = next(index for index, word in enumerate(command) if word.endswith(".py"))
    return ["python", *command[script:]]


def free_port() -> int:
    """Returns a port nobody listens at."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
    return port


def environment(program: Program) -> dict[str, str]:
    """Returns the variables that a program and its mutants are run with."""
    port = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())} if program.port else {}
    return {**ENVIRONMENT, **port}
