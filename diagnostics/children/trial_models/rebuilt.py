"""Model and batches of a captured folder."""

import copy
import json
from pathlib import Path

from .reading import read
from .refused import CannotRebuild
from .script import define

SCHEMA = 1
GIVE = "name a factory: ups-doctor bisect-model module:factory --inputs module:make_batch"


def facts(folder):
    """Returns what capture.json says."""
    path = Path(folder) / "capture.json"
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CannotRebuild("%s cannot be read: %s" % (path, error), "capture it again") from error
    if told.get("schema") != SCHEMA:
        raise CannotRebuild("%s is of schema %s, this reads %d" % (path, told.get("schema"), SCHEMA))
    return told


def build(folder, way=""):
    """Returns the model; what its constructor raises goes on as it is. `way` stands in for what the folder says."""
    told = facts(folder)
    main = script_of(folder, told)
    if (way or told["build"]) == "instance":
        model = understood(folder, "instance", main)
    else:
        made = understood(folder, "model", main)
        model = made["class"](*made["args"], **made["kwargs"])
    method = told.get("method", "forward")
    if method != "forward":
        model.forward = getattr(model, method)  # what stands for it in the script, and what wrappers call
    return model


def readable(folder):
    """Raises CannotRebuild where the constructor's arguments cannot be read."""
    understood(folder, "model", script_of(folder, facts(folder)))


def batches(folder):
    """Returns a function that gives (args, kwargs), None where the run reached no batch.

    Where a step of the script calls the model several times: (args, kwargs, [(args, kwargs) of the later calls]).
    """
    told = facts(folder)
    if "batch" not in told["parts"]:
        return None
    later = sorted((one for one in told["parts"] if one.startswith("batch-")), key=lambda one: int(one[6:]))
    calls = [understood(folder, name, script_of(folder, told)) for name in ["batch", *later]]

    def following():
        again = copy.deepcopy(calls)  # a step may write into its batch
        (args, kwargs), *more = [(one["args"], one["kwargs"]) for one in again]
        return (args, kwargs, more) if more else (args, kwargs)

    return following


def understood(folder, name, main):
    """Returns a packed value."""
    try:
        return read(folder, name, main)
    except CannotRebuild:
        raise
    except Exception as error:
        text = "what was captured as %s cannot be read: %s: %s" % (name, type(error).__name__, error)
        raise CannotRebuild(text, GIVE) from error


_scripts = {}  # by folder: defined once in a process, so that classes are the same for model and batch


def script_of(folder, told):
    """Returns the module that stands for the script."""
    key = str(folder)
    if key not in _scripts:
        try:
            _scripts[key] = define(folder, told)
        except CannotRebuild:
            raise
        except Exception as error:
            text = "the definitions that %s needs cannot be run again: %s: %s"
            raise CannotRebuild(text % (told["class"], type(error).__name__, error), GIVE) from error
    return _scripts[key]
