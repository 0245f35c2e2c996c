"""Whose file a frame is in: told by the folders of a job's Python and of the doctor, not by parts of a name. Pure.

Each frame that is read from a record passes `Homes.kept`: the doctor's own are left out, the others keep what is known
of them in `Frame.owner`, and `frames.user_frames` lets none but the user's and packages' be a location.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from diagnostics.core.frame import Frame, Owner
from diagnostics.core.own_folders import AGENT

# Below a folder of packages: what starts ranks, and is never the line to change.
_LAUNCHERS = re.compile(
    r"(?:torch/distributed/(?:run|launch|argparse_util)\.py|torch/distributed/(?:elastic|launcher)/"
    r"|torch/multiprocessing/spawn\.py|accelerate/(?:commands/|utils/launch|launchers)|deepspeed/launcher/"
    r"|horovod/runner/|lightning/fabric/(?:cli|strategies/launchers)|lightning/pytorch/strategies/launchers"
    r"|pytorch_lightning/strategies/launchers|torchx/|debugpy/|coverage/(?:__main__|cmdline|execfile))"
)
# Names of code that has no file: nobody can open it. What a notebook or a prompt ran is the user's.
_TYPED = ("<ipython-input", "<stdin>")
_ANY_PACKAGES = re.compile(r"^(?P<folder>.*/lib(?:64)?/python3(?:\.\d+)?/(?:site|dist)-packages/)(?P<rest>.*)")
_OWN = str(AGENT)  # of this doctor: logs have no agent that tells
_INSTALLED_DOCTOR = re.compile(r"diagnostics/(?:agent|children)/")
# Where nothing tells which folders these are: a record of an older agent, a job without one, logs.
_NAMED_PACKAGES = re.compile(r"^.*/(?:site|dist)-packages/(?P<rest>.*)")
_NAMED_STDLIB = re.compile(r"/lib(?:64)?/python3\.\d+/(?!(?:site|dist)-packages/)")
_NAMED_SCRIPT = re.compile(r"/bin/(?:torchrun|accelerate|deepspeed|horovodrun|ups-doctor|ups)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Homes:
    """Folders, absolute, without a slash at their end. `stdlib` is empty where nothing tells."""

    doctors: frozenset[str] = frozenset()  # agent/ of each process
    stdlib: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    scripts: frozenset[str] = frozenset()  # bin/ of a Python: torchrun
    working: str = ""  # of the job: whoever works below a folder of packages has files of his own there
    _known: dict[str, Owner] = field(default_factory=dict, repr=False, compare=False)

    def joined(self, others: Iterable[Homes]) -> Homes:
        """Returns the homes of several processes."""
        all_of_them = [self, *others]
        return Homes(
            doctors=frozenset().union(*(one.doctors for one in all_of_them)),
            stdlib=frozenset().union(*(one.stdlib for one in all_of_them)),
            packages=frozenset().union(*(one.packages for one in all_of_them)),
            scripts=frozenset().union(*(one.scripts for one in all_of_them)),
            working=next((one.working for one in all_of_them if one.working), ""),
        )

    def owner(self, file: str) -> Owner:
        """Returns whose file this is."""
        known = self._known.get(file)
        if known is None:
            known = self._known[file] = self._owner(file)
        return known

    def may_be_named(self, location: str) -> bool:
        """Whether "train.py:31" may be shown as the place of something."""
        owner = self.owner(location.rpartition(":")[0] or location)
        return owner not in (Owner.DOCTOR, Owner.INTERPRETER, Owner.LAUNCHER)

    def kept(self, frames: Iterable[Frame]) -> tuple[Frame, ...]:
        """Returns the frames without the doctor's own, each with its owner."""
        told = ((frame, self.owner(frame.file)) for frame in frames)
        return tuple(replace(frame, owner=owner) for frame, owner in told if owner is not Owner.DOCTOR)

    def _owner(self, file: str) -> Owner:
        if file.startswith("<"):
            return Owner.USER if file.startswith(_TYPED) else Owner.INTERPRETER
        if any(_below(file, folder) for agent in (*self.doctors, _OWN) for folder in (agent, _children(agent))):
            return Owner.DOCTOR
        for folder in self.packages:
            if _below(file, folder) and not _below(f"{self.working}/", folder):
                return _in_packages(file[len(folder) + 1 :])
        if any(_below(file, folder) for folder in self.stdlib):
            return Owner.INTERPRETER
        if any(file.rpartition("/")[0] == folder for folder in self.scripts):
            return Owner.LAUNCHER
        return self._elsewhere(file)

    def _elsewhere(self, file: str) -> Owner:
        """Returns whose file it is in none of the known folders: the user's, or what PYTHONPATH brought in."""
        found = (_ANY_PACKAGES if self.stdlib else _NAMED_PACKAGES).match(file)
        if found is not None and not self.doctors and _INSTALLED_DOCTOR.match(found["rest"]):
            return Owner.DOCTOR  # a log from another machine
        if found is not None:
            inside = self.stdlib and _below(f"{self.working}/", found["folder"].rstrip("/"))
            return Owner.USER if inside else _in_packages(found["rest"])
        if not self.stdlib and (_NAMED_STDLIB.search(file) or _NAMED_SCRIPT.search(file)):
            return Owner.INTERPRETER
        return Owner.USER


NOWHERE = Homes()


def home(agent_folder: str, stdlib: str, packages: Iterable[str], executable: str, cwd: str) -> Homes:
    """Returns the folders of one process."""
    return Homes(
        doctors=frozenset(filter(None, [agent_folder])),
        stdlib=frozenset(filter(None, [stdlib])),
        packages=frozenset(filter(None, packages)),
        scripts=frozenset(filter(None, [executable.rpartition("/")[0]] if stdlib else [])),
        working=cwd,
    )


@lru_cache(maxsize=8192)
def owner_by_name(file: str) -> Owner:
    """Returns whose file this seems to be, where no folder is known."""
    return Homes().owner(file)


def _in_packages(rest: str) -> Owner:
    return Owner.LAUNCHER if _LAUNCHERS.match(rest) else Owner.TORCH if rest.startswith("torch/") else Owner.PACKAGE


def _below(file: str, folder: str) -> bool:
    return bool(folder) and file.startswith(f"{folder}/")


def _children(agent: str) -> str:
    """Returns the folder beside the agent's, of what the doctor runs in processes of its own."""
    above, _, last = agent.rpartition("/")
    return f"{above}/children" if above and last == "agent" else ""
