"""Where this process stands in the tree of control groups."""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def ancestors(controller: str, *, root: Path = ROOT, membership: Path = MEMBERSHIP) -> list[Path]:
    """Returns this process's group and its parents, innermost first; existing folders only.

    `controller` is "memory", "cpu"... for version 1 and "" for version 2. A container often sees
    its own group as the root of the mount: then the path in /proc does not exist below it.
    """
    path = _membership(controller, membership)
    if path is None:
        return []
    mount = _mount(controller, root)
    inside = mount / path.lstrip("/")
    line = [inside, *(item for item in inside.parents if item == mount or mount in item.parents)]
    return [item for item in line if item.is_dir()]


def _membership(controller: str, membership: Path) -> str | None:
    try:
        lines = membership.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        number, names, path = line.split(":", 2)
        if (controller == "" and number == "0" and names == "") or (controller and controller in names.split(",")):
            return path
    return None


def _mount(controller: str, root: Path) -> Path:
    if controller:
        return root / controller
    hybrid = root / "unified"
    return hybrid if hybrid.is_dir() else root
