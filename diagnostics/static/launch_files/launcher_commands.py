"""What a command line starts: launchers inside wrappers inside other launchers, and the Python program behind. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from diagnostics.static.launch_files.launch_line import SWITCHES

PYTHON = re.compile(r"python[\d.]*")
TORCHRUN_MODULES = ("torch.distributed.run", "torch.distributed.launch", "torch.distributed.elastic.rendezvous.run")
# Programs that run the rest of their words.
WRAPPERS = frozenset([
    "exec", "nohup", "time", "command", "env", "sudo", "timeout", "nice", "ionice", "stdbuf", "setsid", "numactl",
    "taskset", "chrt", "setpriv", "unshare", "conda", "mamba", "micromamba", "poetry", "uv", "pipenv", "pixi", "rye",
    "hatch", "xvfb-run", "nsys", "ncu", "strace", "gdb", "catchsegv", "singularity", "apptainer", "docker", "podman",
    "nerdctl", "nvidia-docker", "ssh", "tini", "dumb-init", "chroot", "gosu", "su", "pdsh", "parallel", "xargs",
    "systemd-run", "screen", "tmux", "bash", "sh", "prlimit", "flock", "coverage", "py-spy", "ups-doctor", "eval",
    "jsrun", "flux", "bsub", "qsub", "sbatch", "salloc", "kubectl",
])  # fmt: skip
STARTS_RANKS = ("torchrun", "accelerate", "deepspeed", "horovodrun", "mpirun", "mpiexec", "srun")
_VALUELESS = SWITCHES | {
    "--use-env", "--multi-gpu", "--mixed", "--exclusive", "--oversubscribe", "-l", "-u", "--allow-run-as-root",
    "--verbose", "--label", "--unbuffered", "--report-bindings", "--cpu", "--use-deepspeed", "--use-fsdp", "--debug",
    "--no-local-rank", "--force-multi",
}  # fmt: skip


@dataclass(frozen=True)
class Launch:
    """One layer of a command line. `at` is the index of its first word, `launcher` and `program` its two halves."""

    kind: str  # torchrun, launch (torch.distributed.launch), accelerate, deepspeed, ..., srun, python
    at: int
    launcher: tuple[str, ...]
    program: tuple[str, ...]

    @property
    def _given(self) -> tuple[str, ...]:
        """The launcher's words behind its own name: `python -m torch.distributed.run` is a name, too."""
        python = PYTHON.fullmatch(base(self.launcher[0])) and self.kind != "python"
        name = next((at for at, word in enumerate(self.launcher) if word == "-m"), 0) + 1 if python else 0
        return self.launcher[name + 1 :]

    @cached_property
    def options(self) -> dict[str, str]:
        """Its options by name, long ones with dashes; "" where there is no value."""
        found: dict[str, str] = {}
        words = self._given
        for index, word in enumerate(words):
            if not word.startswith("-") or len(word) < 2:
                continue
            name, equals, value = word.partition("=")
            name = "--" + name[2:].replace("_", "-") if name.startswith("--") else name
            after = words[index + 1] if index + 1 < len(words) else ""
            follows = not equals and name not in _VALUELESS and after and not after.startswith("-")
            found.setdefault(name, value if equals else after if follows else "")
            if not name.startswith("--") and (short := re.fullmatch(r"(-[nNGc])(\d+)", name)):
                found.setdefault(short[1], short[2])
        return found

    def option(self, *names: str) -> str:
        """Returns the value of the first of these options that is given, "" without one."""
        return next((self.options[name] for name in names if name in self.options), "")

    @property
    def ranks_here(self) -> int | None:
        """How many ranks it starts on each machine, None where that is not a number in the command."""
        match self.kind:
            case "torchrun" | "launch":
                text = self.option("--nproc-per-node") or ("1" if "--nproc-per-node" not in self.options else "")
            case "accelerate":
                text = self.option("--num-processes") if self.machines == 1 else ""
            case "deepspeed":
                text = self.option("--num-gpus")
            case "horovodrun" | "mpirun" | "mpiexec":
                text = self.option("-np", "-n", "--np")
            case "srun":
                text = self.option("--ntasks-per-node") or (self.option("-n", "--ntasks") if self.machines == 1 else "")
            case _:
                return None
        return int(text) if text.isdigit() and len(text) < 7 else None

    @property
    def machines(self) -> int | None:
        """How many machines it says there are, None where that is not a number in the command."""
        text = self.option("--nnodes", "--num-machines", "--num-nodes", "--nodes", "-N") or "1"
        return int(text) if text.isdigit() and len(text) < 7 else None

    @property
    def script(self) -> str:
        """The Python file or, behind -m, the module that it runs; "" where it is neither."""
        words = list(self.program)
        if self.kind == "python":
            return python_program(words[1:])[0]
        if self.is_module:
            return words[0] if words else ""
        if words and PYTHON.fullmatch(PurePosixPath(words[0]).name):
            return python_program(words[1:])[0]
        return words[0] if words and words[0].endswith(".py") else ""

    @property
    def is_module(self) -> bool:
        """Whether `script` is a module's name."""
        if self.kind == "python":
            return python_program(list(self.program[1:]))[1]
        return "-m" in self._given or "--module" in self._given

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the Python program is given."""
        script = self.script
        return self.program[self.program.index(script) + 1 :] if script in self.program else ()


def launcher_calls(words: Sequence[str]) -> tuple[Launch, ...]:
    """Returns the launchers and the Python program of a command, outermost first."""
    found: list[Launch] = []
    at: int | None = 0
    while at is not None and at < len(words) and len(found) < 8:
        launch = _launch_at(words, at)
        if launch is not None:
            found.append(launch)
            if launch.kind == "python":
                break
            at = len(words) - len(launch.program) if launch.program else None
            if at is not None and launch.script and words[at].endswith(".py"):
                break
        elif base(words[at]) in WRAPPERS or "=" in words[at]:
            at = _next_program(words, at)
        else:
            at = None
    return tuple(found)


def base(word: str) -> str:
    """Returns the name of a program without its folder."""
    return word.rpartition("/")[2]


def python_program(words: Sequence[str]) -> tuple[str, bool]:
    """Returns (script or module, whether it is a module) behind `python`; "" for -c, a here-document and none."""
    index = 0
    while index < len(words):
        word = words[index]
        if word == "-m":
            return (words[index + 1] if index + 1 < len(words) else ""), True
        if word in ("-c", "-") or word.startswith("<"):
            return "", False
        if word in ("-W", "-X"):
            index += 1
        elif not word.startswith("-"):
            return word, False
        index += 1
    return "", False


def _launch_at(words: Sequence[str], at: int) -> Launch | None:
    name = base(words[at])
    rest = words[at + 1 :]
    if PYTHON.fullmatch(name):
        module, is_module = python_program(rest)
        if is_module and module in TORCHRUN_MODULES:
            kind = "launch" if module.endswith("launch") else "torchrun"
            return _split(kind, words, at, at + 1 + list(rest).index(module) + 1)
        if is_module and module == "accelerate.commands.launch":
            return _split("accelerate", words, at, at + 1 + list(rest).index(module) + 1)
        if is_module and module == "deepspeed.launcher.runner":
            return _split("deepspeed", words, at, at + 1 + list(rest).index(module) + 1)
        if not is_module and base(module) in ("torchrun", "accelerate", "deepspeed"):
            return _launch_at(words, at + 1 + list(rest).index(module))
        return Launch("python", at, tuple(words[at : at + 1]), tuple(words[at:]))
    if name == "accelerate":
        return _split("accelerate", words, at, at + 2) if list(rest[:1]) == ["launch"] else None
    if name in ("mpirun.openmpi", "mpiexec.hydra", "orterun", "prterun"):
        name = "mpirun"
    return _split(name, words, at, at + 1) if name in STARTS_RANKS else None


def _split(kind: str, words: Sequence[str], at: int, options_at: int) -> Launch:
    """Splits at the first word that is the program: the first that is no option and no option's value."""
    index = options_at
    mpi = kind in ("mpirun", "mpiexec", "srun", "horovodrun")
    while index < len(words) and not _is_program(words, index, mpi=mpi):
        spelled = words[index].replace("_", "-")
        takes = words[index].startswith("-") and "=" not in spelled and spelled not in _VALUELESS
        takes = takes and not (mpi and index + 1 < len(words) and _starts_program(words[index + 1]))
        after = words[index + 1] if index + 1 < len(words) else ""
        script_after = after.endswith((".py", ".sh")) and kind in ("accelerate", "deepspeed")
        index += 2 if takes and not after.startswith("-") and not script_after else 1
    return Launch(kind, at, tuple(words[at:index]), tuple(words[index:]))


def _is_program(words: Sequence[str], index: int, *, mpi: bool) -> bool:
    word = words[index]
    if word.startswith("-") or (mpi and word in (":",)):
        return False
    return not mpi or _starts_program(word) or not words[index - 1].startswith("-")


def _starts_program(word: str) -> bool:
    name = base(word)
    return bool(PYTHON.fullmatch(name)) or name in STARTS_RANKS or name in WRAPPERS or word.endswith((".py", ".sh"))


def _next_program(words: Sequence[str], at: int) -> int | None:
    """Returns the index of the next word that is a program known here: options of wrappers are too many for a table."""
    if base(words[at]) in ("bash", "sh") and any(re.fullmatch(r"-[a-z]*c", word) for word in words[at + 1 : at + 4]):
        return None  # its text is a script of its own
    return next((index for index in range(at + 1, len(words)) if _starts_program(words[index])), None)
