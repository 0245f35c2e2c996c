"""Models that are made once and go on learning through all folds of a cross-validation. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from diagnostics.static.execution.events import Event, Execution, OpenLoop
from diagnostics.static.execution.values import Instance, Made, Value, options, sources
from diagnostics.static.program.ast_walk import walk

_OPTIMIZERS, _SCHEDULES = "torch.optim.", "lr_scheduler"
_PARAMETERS = (".parameters", ".named_parameters")
_STEP = ".step"
# Time goes on from fold to fold in a TimeSeriesSplit: what was learned before is known then.
_SPLITTERS = re.compile(
    r"^sklearn\.model_selection\.(?:Repeated)?(?:Stratified)?(?:Group)?(?:KFold|ShuffleSplit)$|"
    r"^sklearn\.model_selection\.Leave(?:One|P)(?:Group)?s?Out$"
)
_FOLDS = re.compile(r"(?:^|_)k?_?folds?(?:$|_|\d)|^k_?fold|cross_?val", re.IGNORECASE)
_MADE_ANEW = frozenset([".apply", ".reset_parameters", ".reset", ".load_state_dict", ".copy_", ".set_", "copy.deepcopy",
                        ".clone", ".restore", ".set_weights"])  # fmt: skip
_DRAWN_ANEW = re.compile(r"^torch\.nn\.init\.|^\.(?:normal|uniform|fill|zero|xavier|kaiming)\w{0,20}_$|reset|reinit")
_COMPREHENSIONS = (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)


def learned_over_folds(execution: Execution) -> Iterator[tuple[Value, Event, OpenLoop]]:
    """Yields (model, step of its optimizer, loop over the folds) of models that no fold makes anew, each once."""
    told: set[int] = set()
    for one in execution.named(_STEP):
        loop = next((each for each in one.loops if _is_over_folds(each)), None)
        if loop is None or one.is_handled:
            continue
        for model in _models(one):
            if id(model) in told or not _is_made_once(model, loop, one.loops[: one.loops.index(loop)], execution):
                continue
            round_of = [each for each in execution.events if loop in each.loops]
            if _is_evaluated(round_of) and not _is_made_anew(round_of, round_of.index(one)):
                told.add(id(model))
                yield model, one, loop


def _is_over_folds(loop: OpenLoop) -> bool:
    """Whether a loop goes over the folds: those of a splitter, or what is called so."""
    if not isinstance(loop.node, (ast.For, ast.AsyncFor)):
        return False
    for one in sources(loop.over):
        if isinstance(one, Made) and one.name == ".split":
            if any(isinstance(each, Made) and _SPLITTERS.match(each.name) for each in options(one.owner)):
                return True
            if any(isinstance(each, Made) and each.name.endswith("TimeSeriesSplit") for each in options(one.owner)):
                return False
    named = [node.id for node in walk(loop.node.target) if isinstance(node, ast.Name)]
    called = [getattr(node, "id", getattr(node, "attr", "")) for node in walk(loop.node.iter)]
    return any(map(_FOLDS.search, filter(None, named))) and any(map(_FOLDS.search, filter(None, called)))


def _models(step: Event) -> Iterator[Value]:
    """Yields the models that a step is for: all the parameters that its optimizer was given."""
    for optimizer in (step.owner, *step.args[:1]):
        if (
            not isinstance(optimizer, Made)
            or not optimizer.name.startswith(_OPTIMIZERS)
            or _SCHEDULES in optimizer.name
        ):
            continue
        given = [one for one in sources(optimizer.argument(0, "params")) if isinstance(one, Made)]
        owners = [each for one in given if one.name in _PARAMETERS for each in options(one.owner)]
        if len(owners) == 1:  # of several, one may be frozen
            yield owners[0]


def _is_made_once(model: Value, loop: OpenLoop, around: Sequence[OpenLoop], execution: Execution) -> bool:
    """Whether a model was made before a loop, and in no other one but those around it: by a call for it alone."""
    if not isinstance(model, (Instance, Made)) or model.node is None or model.function is None:
        return False
    if isinstance(model, Made) and (model.name.startswith((".", "[", "(")) or model.name in ("item", "carried")):
        return False
    if any(model.node is each for each in walk(loop.node)):
        return False
    syntax = model.function.syntax
    if any(isinstance(one, _COMPREHENSIONS) and any(each is model.node for each in walk(one)) for one in walk(syntax)):
        return False
    if any(one is model for one in sources(loop.over)):
        return False
    made = next(
        (one for one in execution.events if one.value is model or any(each.call is model.node for each in one.frames)),
        None,
    )
    return made is not None and loop not in made.loops and all(each in around for each in made.loops)


def _is_evaluated(round_of: Sequence[Event]) -> bool:
    return any(one.name == ".eval" or one.without_gradients for one in round_of)


def _is_made_anew(round_of: Sequence[Event], first: int) -> bool:
    """Whether something in a round may give a model the weights that it began with; `first`: its first step."""
    return any(
        (one.name in _MADE_ANEW or bool(_DRAWN_ANEW.search(one.name))) and not _is_of_round(one, at, round_of, first)
        for at, one in enumerate(round_of)
    )


def _is_of_round(event: Event, at: int, round_of: Sequence[Event], first: int) -> bool:
    """Whether an event copies a state, or loads one that the round has taken or saved behind its first step."""
    if event.name == "copy.deepcopy":
        return any(isinstance(one, Made) and one.name == ".state_dict" for one in event.args)
    if event.name != ".load_state_dict" or at < first:
        return False
    taken = {id(one.value) for one in round_of[first:at] if one.name == ".state_dict"}
    saved = any(one.name == "torch.save" for one in round_of[first:at])
    given = [one for value in event.args for one in sources(value)]
    return any(id(one) in taken or (saved and isinstance(one, Made) and one.name == "torch.load") for one in given)
