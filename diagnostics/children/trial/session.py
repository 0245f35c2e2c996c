"""A try from its first phase to its last."""

import contextlib
import itertools
import os
import random
import sys

import torch

from .. import trial_wrappers
from ..inspection.refusal import Refusal
from ..trial_models.source import source_of
from ..trial_observers import memory, origin
from ..trial_observers.trace import traced
from . import checkpointing, edits, group
from .answer import Answer
from .raised import text_of
from .stepping import Steps

NO_COMPILER = "InvalidCxxCompiler"
NO_TRAINER = "is not attached to a `Trainer`"  # what Lightning says of a step that is taken without it


def run(request, rank, world_size):
    """Tries the case; returns the exit code that this process shall end with."""
    answer = Answer(request["result"].replace("{rank}", str(rank)))
    try:
        attempt(request, rank, world_size, answer)
    except Refusal as refusal:
        if refusal.cause is None:
            return refused(answer, refusal)
        answer.refuse(refusal)  # what every rank says of an import is wrong use, one rank's alone a failure
        return failed(answer, refusal.cause)
    except BaseException as error:  # the end of this process's own life: like the interpreter
        if request["settings"]["compile"] and NO_COMPILER in text_of(error):
            return refused(answer, Refusal("torch.compile finds no C++ compiler", "apt-get install g++"))
        if NO_TRAINER in text_of(error):
            hint = "name a factory of a model that does without: module:factory --inputs module:make_batch"
            return refused(answer, Refusal("the training step asks for its Trainer, which only the script has", hint))
        return failed(answer, error)
    answer.finish()
    return 0


def failed(answer, error):
    """Says what ended the try; returns the exit code that the interpreter would end with."""
    answer.fail(error)
    if isinstance(error, SystemExit):
        return exit_code(error)
    sys.excepthook(type(error), error, error.__traceback__)  # the agent's is the one that records it
    return 1


def refused(answer, refusal):
    """Says why the case cannot be run; returns the exit code."""
    answer.refuse(refusal)
    sys.stderr.write("\n".join(filter(None, (str(refusal), refusal.hint))) + "\n")
    return 2


def leave(code):
    """Ends the process without the interpreter's shutdown, in which threads of a process group may abort."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # a stream that the user's code closed or replaced
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def exit_code(left):
    """Returns the code that the interpreter would end with."""
    if left.code is None or isinstance(left.code, int):
        return (left.code or 0) & 0xFF
    sys.stderr.write("%s\n" % left.code)
    return 1


def attempt(request, rank, world_size, answer):
    """Goes through the phases; whatever ends it is raised."""
    settings = request["settings"]
    wrapper = trial_wrappers.load(settings["wrapper"])
    torch.set_num_threads(settings["threads"])
    memory.limit(request.get("memory_bytes", 0), settings["device"])
    device = group.device_of(settings["device"])
    source = source_of(request, answer)
    with answer.phase("import"):
        source.load()
    with answer.phase("group"):
        group.begin(settings["backend"], rank, world_size, request.get("timeout_s", 60.0))
    model, calls = prepared(request, rank, answer, source)
    records = bool(request.get("record"))
    if records and rank == 0:
        answer.note(tree=edits.tree(model))
    with answer.phase("move"):
        model.to(device)
    steps = Steps(request, answer, model, calls, device)
    steps.make_lazy_parameters()
    if settings["checkpointing"]:
        checkpointing.add(model)
    with answer.phase("wrap"):
        steps.wrap(wrapper)
    seed_all(request["seed"] + rank)
    file = request.get("profile", "").replace("{rank}", str(rank))
    watching = origin.watching(model, answer, request.get("origin"))
    with traced(file, answer, not settings["compile"]), watching:
        steps.run(records)
    with answer.phase("end"):
        group.end()


def prepared(request, rank, answer, source):
    """Returns the model, built and edited, and the calls it is given."""
    settings = request["settings"]
    seed_all(request["seed"])  # the same model on every rank
    with answer.phase("construct"), edits.building(request):
        model = source.build()
    torch.set_num_threads(settings["threads"])  # user code sets numbers of its own
    model.train()
    seed_all(request["seed"] + rank)  # but batches of its own
    with answer.phase("batch"):
        calls = source.calls(model, settings["steps"] * settings["accumulate"])
    answer.paths.update((id(one), path) for path, one in model.named_modules())
    with answer.phase("edit"):
        model, following = edits.apply(model, cycling(calls), request)
        return model, [following() for _ in calls]


def cycling(calls):
    """Returns a function that gives one call after the other, and the first again after the last."""
    again = itertools.cycle(calls)

    def following():
        if not calls:
            raise Refusal("the model is built and no step taken: there is no batch for this edit")
        return next(again)

    return following


def seed_all(seed):
    """Seeds what the user's code may draw from."""
    random.seed(seed)
    torch.manual_seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
