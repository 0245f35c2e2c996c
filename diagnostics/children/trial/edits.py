"""What a bisection changes in a model, and what it notes of it. The request is that of one rank, see the package.

    with edits.building(request):
        model = factory()
    model, calls = edits.apply(model, calls, request)    # before the model is moved and wrapped
    with edits.recording(model, request):                # `model` as apply gave it, whatever wraps it now
        output = wrapped(*args, **kwargs)
    answer["tree"] = edits.tree(model)

`calls()` gives (args, kwargs) of the next call of the model. What is recorded goes into a journal, see `journal.py`,
line by line, so that a process which dies leaves all that it came to know.
"""

import os
from contextlib import contextmanager

from ..inspection.refusal import Refusal
from ..trial_observers import constructions
from ..trial_observers import tree as trees
from ..trial_observers.calls import next_number
from ..trial_observers.journal import Journal, file_of_rank
from ..trial_observers.recorder import Recorder, listening
from . import alone, cuts, guesses, guessing, smaller_batch, stand_in
from .variants import Recorded


class State:
    """What this process knows of the model it has built."""

    built = constructions.Constructions((), None)


@contextmanager
def building(request):
    """Counts what is constructed and with what, and skips the constructors that the edits name."""
    skipped = request["edits"].get("not_built", ())
    journal = journal_of(request)
    if journal is not None:
        journal.begin()
    if not skipped and journal is None:
        yield
        return
    with constructions.watching(skipped, journal) as State.built:
        yield


def journal_of(request):
    """Returns where this rank records, None where it does not."""
    if request.get("record") and request.get("structures"):
        return Journal(file_of_rank(request["structures"], this_rank()))
    return None


def this_rank():
    """Returns the number that the launcher gave this process."""
    return int(os.environ.get("RANK") or 0)


def apply(model, calls, request):
    """Returns the model and its calls as the edits want them; raises Refusal where an edit does not fit."""
    wanted = request["edits"]
    if wanted.get("batch") is not None:
        calls = smaller_batch.smaller(calls, wanted["batch"])
    # What this very run is about to write, nobody must read half of.
    known = Recorded("" if request.get("record") else request.get("structures"), this_rank())
    guess, guessed = guesses.Guess(), []
    for path in [*paths_of(model, State.built.not_built), *wanted.get("stand_ins", ())]:
        held_by(model, path)
        guessed += stand_in.install(model, path, known, guess)
    cut = [(held_by(model, path), path, places) for path, places in wanted.get("cuts", ())]
    path = wanted.get("alone")
    if path:
        held_by(model, path)
        model, calls = alone.run_alone(model, path, known, request["settings"].get("amp", ""))
    for container, name, places in cut:
        cuts.cut(container, name, places)
    if guessed and not known.variants(""):
        # Where the whole model came to its end, what was not called needs no guess, and no run before its time.
        first = calls()
        guessing.settle(model, first, guess)
        calls = again(first, calls)
    return model, calls


def held_by(model, path):
    """Returns the module at this path; raises Refusal where the model has none."""
    try:
        return model.get_submodule(path)
    except AttributeError:
        raise Refusal("the model has no module '%s'" % path) from None


def paths_of(model, modules):
    """Returns the paths of those of the modules that are in the model."""
    wanted = {id(one) for one in modules}
    return [path for path, one in model.named_modules() if id(one) in wanted]


def again(first, calls):
    """Returns calls that give `first` before the others: it was taken to try something, and is not lost."""
    left = [first]
    return lambda: left.pop() if left else calls()


@contextmanager
def recording(model, request):
    """Notes what each module takes and gives, where the request asks for it."""
    journal = journal_of(request)
    if journal is None:
        yield
        return
    journal.write(tree=tree(model))
    number = next_number(journal.file)
    journal.write(forward=number)
    recorder = Recorder(journal, {id(one): path for path, one in model.named_modules()}, number)
    with listening(recorder):
        yield


def tree(model):
    """Returns JSON of ModuleNode for each module as it was built; how it ran is in the journal."""
    return trees.nodes(model, State.built.name_of, State.built.arguments_text())
