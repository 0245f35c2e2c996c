"""A job with a secret in every place where one may be: the forms of a language dealt out to its places."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from collections.abc import Iterable
from pathlib import Path

from planting import LANGUAGES, Planted, plant

# place -> the languages whose forms stand there; every form of a language is in one of its places at least
PLACES = {
    "stdout": ("prose",), "stderr": ("repr",), "logged": ("prose",), "logged-exception": ("address",),
    "warning": ("repr",),
    "message": ("prose", "file"), "cause": ("address",), "note": ("repr",), "child-stdout": ("file",),
    "child-argv": ("argv",),
    "child-environment": ("variable",), "debug-log": ("shape",), "argv": ("argv",), "environment": ("variable",),
    "script": ("shell",), "script-sourced": ("shell",), "here-document": ("shell",), "yaml-argument": ("yaml",),
    "yaml-launch": ("yaml",), "source-module": ("python",), "source-call-path": ("python",),
    "source-import": ("python",),
    "local": ("python",), "local-nested": ("repr",), "argument": ("variable",), "thread-name": ("shape",),
    "saved-log": ("prose", "address", "shape", "file", "repr"), "audited": ("python",), "audited-yaml": ("yaml",),
    "audited-shell": ("shell",),
}  # fmt: skip


def dealt(place: str) -> list[Planted]:
    """Returns this place's share: places of one language share its forms, and all forms are somewhere."""
    found = []
    for language in PLACES[place]:
        sharing = [one for one, languages in PLACES.items() if language in languages]
        forms = LANGUAGES[language].splitlines()
        found += [plant(language, form, place) for form in forms[sharing.index(place) :: len(sharing)]]
    return found


def everywhere() -> dict[str, tuple[str, ...]]:
    """Returns place | form -> the secrets planted there."""
    return {f"{place} | {one.form}": one.secrets for place in PLACES for one in dealt(place)}


def found(data: bytes) -> list[str]:
    """Returns "place | form" of each secret that `data` holds, whole or one half of it."""
    return [
        name
        for name, secrets in everywhere().items()
        for secret in secrets
        if any(part in data for part in _parts(secret))
    ]


def _parts(secret: str) -> Iterable[bytes]:
    half = max(len(secret) // 2, 6)
    return {secret[:half].encode(), secret[-half:].encode()}


RUN_SH = """\
#!/bin/bash
. ./settings.sh
if false; then
{script}
fi
export WORKERS=2
bash inner.sh "$@"
"""
INNER_SH = """\
if false; then
{here}
fi
exec {python} train.py --config config.yaml --launch launch.yaml "$@"
"""
TRAIN = """\
import logging, subprocess, sys, threading, warnings
import other

PLANTED = other.planted()


def hold(values):
{locals}
    nested = values
    other.fail(**PLANTED["argument"])


def never(self, url):
{source}


def main():
    for text in PLANTED["stdout"]:
        print(text, flush=True)
    for text in PLANTED["stderr"] + PLANTED["debug-log"]:
        print(text, file=sys.stderr, flush=True)
    for text in PLANTED["logged"]:
        logging.error(text)
    for text in PLANTED["logged-exception"]:
        try:
            raise ValueError(text)
        except ValueError:
            logging.exception("went on")
    for text in PLANTED["warning"]:
        warnings.warn(text)
    for name in PLANTED["thread-name"]:
        threading.Thread(target=threading.Event().wait, args=(20,), name=name, daemon=True).start()
    child = "import sys; print(sys.argv[1]); sys.exit(3)"
    subprocess.run([sys.executable, "-c", child, "\\n".join(PLANTED["child-stdout"]), *PLANTED["child-argv"]],
                   env=PLANTED["child-environment"])
    hold(PLANTED["local-nested"])


main()
"""
OTHER = """\
import json, pathlib
import third


def planted():
    return json.loads(pathlib.Path("planted.json").read_text())


def fail(**{arguments}):
    texts = planted()
    for form in texts["message"]:
        pass
    try:
        raise ValueError("\\n".join(texts["cause"]))
    except ValueError as error:
        failed = RuntimeError("\\n".join(texts["message"]))
        failed.add_note("\\n".join(texts["note"]))
        raise failed from error


def never(self, url):
{source}
"""


def words_of(place: str) -> list[str]:
    """Returns the command lines of a place as the words of one."""
    return [word for one in dealt(place) for word in shlex.split(one.text)]


def write_job(folder: Path, python: str) -> tuple[list[str], dict[str, str]]:
    """Writes the job and everything beside it; returns its arguments and its variables."""
    texts = {place: [one.text for one in dealt(place)] for place in PLACES}
    words = {place: words_of(place) for place in ("argv", "child-argv")}
    variables = {
        place: dict(text.split("=", 1) for text in texts[place]) for place in PLACES if PLACES[place] == ("variable",)
    }
    planted = {**texts, **{name: words[name] for name in words if name != "argv"}, **variables}
    own = {place: planted[place] for place in planted if place not in ("argv", "environment")}
    (folder / "planted.json").write_text(json.dumps(own))
    (folder / "settings.sh").write_text("if false; then\n" + "\n".join(texts["script-sourced"]) + "\nfi\n")
    (folder / "run.sh").write_text(RUN_SH.format(script="\n".join(texts["script"])))
    (folder / "inner.sh").write_text(INNER_SH.format(here="\n".join(texts["here-document"]), python=python))
    (folder / "config.yaml").write_text("\n---\n".join(texts["yaml-argument"]) + "\n")
    (folder / "launch.yaml").write_text("\n---\n".join(texts["yaml-launch"]) + "\n")
    source = _function(texts["source-module"])
    (folder / "train.py").write_text(TRAIN.format(locals=_values(texts["local"]), source=source))
    (folder / "other.py").write_text(OTHER.format(arguments="arguments", source=_function(texts["source-call-path"])))
    (folder / "third.py").write_text("def never(self, url):\n" + _function(texts["source-import"]) + "\n")
    (folder / "saved.log").write_text(
        "\n".join(texts["saved-log"]) + "\nTraceback (most recent call last):\nValueError: x\n"
    )
    cache = folder / "cache"
    cache.mkdir()
    (cache / f"model-{texts['thread-name'][0].splitlines()[0][:60]}.pt".replace("/", "_")).write_bytes(
        b"PK\x03\x04 cut off"
    )
    audited = folder / "audited"
    audited.mkdir()
    (audited / "train.py").write_text("def never(self, url):\n" + _function(texts["audited"]) + "\n")
    (audited / "run.sh").write_text("#!/bin/bash\n" + "\n".join(texts["audited-shell"]) + "\n")
    (audited / "job.yaml").write_text("\n---\n".join(texts["audited-yaml"]) + "\n")
    return words["argv"], variables["environment"]


def _function(texts: list[str], indent: str = "    ") -> str:
    """Returns the forms as the lines of a function that is never called."""
    return textwrap.indent("\n".join(f"{text} pass" if text.endswith(":") else text for text in texts), indent)


def _values(texts: list[str]) -> str:
    """Returns those forms that are plain assignments, and then, in a branch that is never taken, the others."""
    plain = [text for text in texts if _ASSIGNS.match(text)]
    others = [text for text in texts if text not in plain]
    return f"{_function(plain)}\n    if not values:\n{_function(others, ' ' * 8)}\n        pass"


_ASSIGNS = re.compile(r"[A-Za-z_]+(?:, [a-z]+)?(?:: str)? = (?![\w.]+\()(?!os\.)[\"'({\[\d]")
