"""An optimizer made from parameters that sharding then replaces.

What it does: follows each start of the project call by call and flags an optimizer made from `model.parameters()`, also
inside a function that is given the model, before the same model is wrapped by FullyShardedDataParallel or
fully_shard, where no optimizer is made afterwards. Also an optimizer that makes its state at once (Adagrad), before the
model is moved to a GPU in the same function.

Why it matters: both replace the parameters. The optimizer keeps the old ones, which get no gradients any more: it
steps, and the model does not change. The loss stays where it is and nothing fails. Moving keeps the parameters, but
not the state that is there already: Adagrad's stays on the CPU, and its first step raises.

Bad:

    optimizer = torch.optim.AdamW(model.parameters())
    model = FSDP(model)

Good:

    model = FSDP(model)
    optimizer = torch.optim.AdamW(model.parameters())

What it cannot see: models that change their name on the way. Wrapping in DistributedDataParallel and model.to(device)
after other optimizers are fine: they keep the parameter objects. With FSDP(use_orig_params=True) the objects are kept
as well, but not the shapes that the state was made for: likely.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.sharded import optimizers_before_sharding
from diagnostics.static.execution.events import Execution
from diagnostics.static.ordering.event_order import CallEvent, EventOrder, Site, Trace, meeting
from diagnostics.static.ordering.event_traces import event_traces
from diagnostics.static.ordering.traced_calls import is_optimizer
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.model_wrappers import DDP, WRAPPERS

CODE = "A103"
NAME = "optimizer-before-wrap"
SEVERITY = Severity.ERROR
RUN_CLASS = "zero-progress"
_STATE_AT_ONCE = {"torch.optim.Adagrad", "torch.optim.adagrad.Adagrad"}
_MOVES = {"to", "cuda"}
_DTYPE = re.compile(r"float|half|double|channels_last|^torch\.(?:bf|fp|int|uint)")
SUBJECT = ("FullyShardedDataParallel", "FSDP", "fully_shard", "parallelize_module", "DistributedDataParallel")
CHECKLIST = "the optimizer is made after the model is sharded"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the optimizers made before their model is sharded."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for made, sharded, stepped in optimizers_before_sharding(execution):
        yield violation(
            home(made, project),
            made.node,
            "this optimizer holds the parameters that sharding replaces afterwards: it steps, and the model does not "
            "change",
            "make the optimizer after the model is sharded",
            steps=(shown(sharded, project, "sharded here"), shown(stepped, project, "the optimizer steps")),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields what the text shows."""
    yield from (one for one in _hits(project) if one.file is file)
    for call, function in project.calls_in(file):
        if project.name(call.func, function) in _STATE_AT_ONCE:
            yield from _moved_after(file, call, function)


def _moved_after(file: ProjectFile, made: ast.Call, function: Function) -> Iterator[Violation]:
    """Yields an optimizer whose state is made before the model is moved to a GPU."""
    model = next(iter(sorted(_listed(made))), "")
    moves = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call) and _is_move(one, model)]
    values = function.assigned.get(model, [])
    if not model or len(values) > 2 or any(_MOVES & _called(one) for one in values if one.lineno <= made.lineno):
        return
    if any(one.lineno <= made.lineno for one in moves) or not moves:
        return
    first = min(moves, key=lambda one: one.lineno)
    if _blocks_around(file, first) != _blocks_around(file, made):
        return
    yield violation(
        file,
        made,
        f"{last_name(made.func)} makes its state where {model} is now, and {ast.unparse(first)[:40]} moves the model "
        "only afterwards: the state stays behind, and the first step raises",
        f"move {model} to its device first, then make the optimizer",
        steps=(
            step(file, made, "the optimizer makes its state here, on the parameters' device"),
            step(file, first, "the parameters are moved here"),
        ),
        confidence=Confidence.LIKELY,
    )


def _called(value: ast.expr) -> set[str]:
    """Returns the last names of what is called in an expression."""
    return {last_name(one.func) for one in walk(value) if isinstance(one, ast.Call)}


def _blocks_around(file: ProjectFile, node: ast.AST) -> list[ast.AST]:
    """Returns the branches and loops that a node stands in."""
    found: list[ast.AST] = []
    parent = file.parents.get(node)
    while parent is not None:
        if isinstance(parent, (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.IfExp, ast.FunctionDef)):
            found.append(parent)
        parent = file.parents.get(parent)
    return found


def _is_move(call: ast.Call, model: str) -> bool:
    """Whether a call moves a model to what may be a GPU."""
    if not isinstance(call.func, ast.Attribute) or ast.unparse(call.func.value) != model:
        return False
    if call.func.attr == "cuda":
        return True
    given = [*call.args, *(one.value for one in call.keywords if one.arg == "device")]
    text = ast.unparse(given[0]) if call.func.attr == "to" and given else ""
    return bool(text) and "cpu" not in text and "dtype" not in text and not _DTYPE.search(text)


@per_project
def _hits(project: Project) -> tuple[Violation, ...]:
    found: dict[tuple[str, int], Violation] = {}
    for trace in event_traces(project):
        optimizers = list(trace.where(is_optimizer))
        for wrap in trace.events:
            if WRAPPERS.get(wrap.name, DDP) != DDP:
                for one in _before(trace, optimizers, wrap, project):
                    found.setdefault((one.file.shown, one.line), one)
    return tuple(found.values())


def _before(trace: Trace, optimizers: list[CallEvent], wrap: CallEvent, project: Project) -> Iterator[Violation]:
    if any(one.index > wrap.index and not trace.exclusive(one, wrap) for one in optimizers):
        return
    for one in optimizers:
        if trace.order(one, wrap) not in (EventOrder.SURELY, EventOrder.MAYBE):
            continue
        mine, yours = meeting(one, wrap)
        model = _shared(mine, one, yours, wrap)
        place = mine
        if not model and (model := _attribute_of_both(one, wrap, project)):
            place = one.sites[-1]
        if not model or mine.function is not yours.function or _assigned_between(model, mine, yours):
            continue
        if yours.syntax is not wrap.call and (_is_given(yours.syntax, mine, model) or _prepares_an_engine(yours)):
            continue  # library_calls.py says who hands the optimizer its new parameters, and what shards nothing
        sure = trace.order(one, wrap) is EventOrder.SURELY and not _keeps_objects(wrap.call)
        sure = sure and "param_groups" not in project.file_with(mine.function).words
        yield violation(
            project.file_with(place.function),
            place.syntax,
            f"{one.name.rpartition('.')[2]} is made from {model}.parameters() before {_name(wrap)} replaces them: "
            "it goes on stepping parameters that are no longer the model's",
            f"make the optimizer after {_name(wrap)}({model})",
            steps=(
                step(project.file_with(one.function), one.call, "the optimizer takes the parameters here"),
                step(project.file_with(wrap.function), wrap.call, "the model gets other parameters here"),
            ),
            confidence=Confidence.CONFIRMED if sure else Confidence.LIKELY,
        )
        return


def _name(event: CallEvent) -> str:
    return event.name.rpartition(".")[2]


def _keeps_objects(call: ast.Call) -> bool:
    return any(one.arg is None or (one.arg == "use_orig_params" and not _is_false(one.value)) for one in call.keywords)


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _shared(mine: Site, optimizer: CallEvent, yours: Site, wrap: CallEvent) -> str:
    """Returns the text of the model that both calls are given, "" where that is not seen."""
    if not isinstance(mine.syntax, ast.Call) or not isinstance(yours.syntax, ast.Call) or not yours.syntax.args:
        return ""
    wrapped = {ast.unparse(one) for one in yours.syntax.args[: 1 if yours.syntax is wrap.call else None]}
    listed = _listed(mine.syntax) | _listed_inside(mine, optimizer) | _given_back(mine, optimizer)
    direct = mine.syntax is optimizer.call or bool(listed)
    given = listed if direct else {ast.unparse(one) for one in mine.syntax.args}
    named = {one for one in wrapped & given if one.replace(".", "").isidentifier()}
    likely = {one for one in named if "model" in one or "net" in one} if not direct else named
    return next(iter(sorted(likely)), "")


def _attribute_of_both(optimizer: CallEvent, wrap: CallEvent, project: Project) -> str:
    """Returns the attribute of one object that both calls are given, each in a method: `self.model`."""
    first = wrap.call.args[0] if wrap.call.args else None
    while isinstance(first, ast.Call) and isinstance(first.func, ast.Attribute) and first.func.attr in _MOVES:
        first = first.func.value
    listed = [
        one.func.value
        for argument in optimizer.call.args
        for one in walk(argument)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "parameters"
    ]
    if not isinstance(first, ast.Attribute) or not (key := project.attribute_key(first, wrap.function)):
        return ""
    owners = [one for one in listed if isinstance(one, ast.Attribute)]
    same = any(project.attribute_key(one, optimizer.function) == key for one in owners)
    kept = project.file_with(wrap.function).parents.get(wrap.call)
    stored = kept.targets if isinstance(kept, ast.Assign) else []
    again = any(isinstance(one, ast.Attribute) and project.attribute_key(one, wrap.function) == key for one in stored)
    return ast.unparse(first) if same and (again or isinstance(kept, ast.Expr)) else ""


def _is_given(syntax: ast.AST, mine: Site, model: str) -> bool:
    """Whether a call that leads to the wrapping is given the optimizer: `prepare(model, optimizer)`."""
    made = {
        ast.unparse(target)
        for one in mine.function.nodes_of(ast.Assign)
        if isinstance(one, ast.Assign) and any(inner is mine.syntax for inner in walk(one.value))
        for whole in one.targets
        for target in (whole.elts if isinstance(whole, (ast.Tuple, ast.List)) else [whole])
    }
    given = (*syntax.args, *(one.value for one in syntax.keywords)) if isinstance(syntax, ast.Call) else ()
    made -= {model}
    return any(ast.unparse(inner) in made for one in given for inner in walk(one) if isinstance(inner, ast.expr))


def _prepares_an_engine(yours: Site) -> bool:
    """Whether it is prepare() of an Accelerator that was made with a DeepSpeed plugin: then FSDP wraps nothing."""
    called = yours.syntax.func if isinstance(yours.syntax, ast.Call) else None
    if not isinstance(called, ast.Attribute) or not called.attr.startswith("prepare"):
        return False
    made = yours.function.assigned.get(called.value.id, []) if isinstance(called.value, ast.Name) else []
    return any(
        isinstance(one, ast.Call) and any((given.arg or "").startswith("deepspeed_plugin") for given in one.keywords)
        for one in made
    )


def _listed(call: ast.Call) -> set[str]:
    """Returns the text of the models whose parameters a call is given."""
    return {
        ast.unparse(one.func.value)
        for argument in call.args
        for one in walk(argument)
        if isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr in ("parameters", "named_parameters")
    }


def _listed_inside(mine: Site, optimizer: CallEvent) -> set[str]:
    """Returns what a function is given whose parameter's parameters() it makes the optimizer from."""
    maker = optimizer.function
    called = optimizer.chain[-1].syntax if optimizer.chain else None
    if called is not mine.syntax or not isinstance(called, ast.Call):
        return set()
    given = dict(zip(maker.parameters[maker.implied :], called.args, strict=False))
    given.update({one.arg: one.value for one in called.keywords if one.arg})
    names = {one for one in _listed(optimizer.call) if one not in maker.assigned}
    return {ast.unparse(given[one]) for one in names if one in given}


def _given_back(mine: Site, optimizer: CallEvent) -> set[str]:
    """Returns what the caller calls the model that a function makes and gives back with its optimizer."""
    maker = optimizer.function
    if mine.syntax is optimizer.call or optimizer.chain[-1].syntax is not mine.syntax:
        return set()
    listed = _listed(optimizer.call) & set(maker.assigned)
    places = {
        at
        for node in maker.nodes_of(ast.Return)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple)
        for at, one in enumerate(node.value.elts)
        if ast.unparse(one) in listed
    }
    return {
        ast.unparse(target.elts[at])
        for node in mine.function.nodes_of(ast.Assign)
        if isinstance(node, ast.Assign) and node.value is mine.syntax
        for target in node.targets
        if isinstance(target, ast.Tuple)
        for at in places
        if at < len(target.elts)
    }


def _assigned_between(model: str, mine: Site, yours: Site) -> bool:
    lines = range(getattr(mine.syntax, "lineno", 0) + 1, getattr(yours.syntax, "lineno", 0))
    return any(
        isinstance(one, ast.Assign) and one.lineno in lines and any(ast.unparse(t) == model for t in one.targets)
        for one in mine.function.nodes_of(ast.Assign)
    )
