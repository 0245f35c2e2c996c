"""Says how a captured model is made again: by its constructor, or from the model itself; run by file path.

    python check_capture.py FOLDER

Prints one JSON object on the last line of stdout: {"build": "constructor" / "instance" / "", "problem": sentence,
"notes": [...]}; "" where neither gives the model that the script had. See `children/trial/captured`.
"""

import gc
import json
import os
import resource
import sys
import types
from pathlib import Path

PACKAGE = "ups_doctor_children"  # private: the job may own a package called `trial`
SHOWN = 3
UNKNOWN = "its constructor was not seen"


def main():
    """Checks one folder."""
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core would land in the user's folder
    sys.path[0] = str(Path.cwd())
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(Path(__file__).resolve().parent)]
    sys.modules[PACKAGE] = package
    answer = checked(sys.argv[1])
    sys.stdout.write("\n" + json.dumps(answer) + "\n")
    sys.stdout.flush()
    os._exit(0)


def checked(folder):
    """Returns the answer."""
    gc.disable()  # nothing of an import is garbage, and to look for some takes a fifth of its time
    from ups_doctor_children.trial_models import captured

    gc.freeze()
    gc.enable()
    told = captured.facts(folder)
    answer = {"build": "", "problem": "", "notes": []}
    if told["reached"] != "construct":
        begin_group()
    try:
        captured.batches(folder)
        if told["reached"] == "construct":
            captured.readable(folder)  # its constructor is what fails
            return {**answer, "build": "constructor"}
    except captured.CannotRebuild as error:
        return {**answer, "problem": str(error)}
    first = problem_of(captured, folder, "constructor", "model", told)
    if not first:
        return {**answer, "build": "constructor"}
    second = problem_of(captured, folder, "instance", "instance", told)
    if not second:
        notes = ["%s, so it is taken as it was when it was first used" % first]
        return {**answer, "build": "instance", "notes": notes}
    return {**answer, "problem": first if first != UNKNOWN else second}


def problem_of(captured, folder, way, part, told):
    """Returns why a model cannot be made in this way, "" where it can."""
    if part in told["parts"]:
        return tried(captured, folder, way, told)
    problem = told["problems"].get(part)
    return "%s, which cannot be pickled" % problem if problem else UNKNOWN


def begin_group():
    """Has constructors find the process group that every try has."""
    import torch.distributed as dist

    if dist.is_available() and not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


def tried(captured, folder, way, told):
    """Returns "" where the model made in this way is the one that the script had, else what differs."""
    try:
        model = captured.build(folder, way)
    except captured.CannotRebuild as error:
        return str(error)
    except Exception as error:
        text = "making %s again raises %s: %s"
        return text % (told["class"], type(error).__name__, (str(error).splitlines() or [""])[0])
    tree = told["tree"]
    modules = {path: type(module).__qualname__ for path, module in model.named_modules()}
    parameters = {name: [list(one.shape), bool(one.requires_grad)] for name, one in model.named_parameters()}
    differs = unlike(modules, tree["modules"]) or unlike(parameters, tree["parameters"])
    if not differs:
        return ""
    shown = ", ".join(path or "its class" for path in differs[:SHOWN]) + (", ..." if len(differs) > SHOWN else "")
    return "the script changed %s after its construction (%s)" % (told["class"], shown)


def unlike(mine, theirs):
    """Returns the names under which two tables differ."""
    return [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]


if __name__ == "__main__":
    main()
