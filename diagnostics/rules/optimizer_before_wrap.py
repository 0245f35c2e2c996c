"""An optimizer made from parameters that sharding then replaces.

What it does: follows each start of the project call by call and flags an optimizer made from `model.parameters()`, also
inside a function that is given the model, before the same model is wrapped by FullyShardedDataParallel or
fully_shard, where no optimizer is made afterwards.

Why it matters: both replace the parameters. The optimizer keeps the old ones, which get no gradients any more: it
steps, and the model does not change. The loss stays where it is and nothing fails.

Bad:

    optimizer = torch.optim.AdamW(model.parameters())
    model = FSDP(model)

Good:

    model = FSDP(model)
    optimizer = torch.optim.AdamW(model.parameters())

What it cannot see: models that change their name on the way. Wrapping in DistributedDataParallel and model.to(device)
after the optimizer are fine: they keep the parameter objects. With FSDP(use_orig_params=True) the objects are kept as
well, but not the shapes that the state was made for: likely.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.analysis.audited_file import AuditedFile
from diagnostics.analysis.per_project import per_project
from diagnostics.analysis.project import Project
from diagnostics.analysis.trace_building import traces
from diagnostics.analysis.trace_names import is_optimizer
from diagnostics.analysis.traces import Event, Order, Site, Trace, meeting
from diagnostics.analysis.wrapped_models import DDP, WRAPPERS
from diagnostics.findings import Confidence, Severity
from diagnostics.hits import Hit, hit, step

CODE = "A103"
NAME = "optimizer-before-wrap"
SEVERITY = Severity.ERROR
CHECKLIST = "the optimizer is made after the model is sharded"


def check(file: AuditedFile, project: Project) -> Iterator[Hit]:
    """Yields the optimizers made before their model is sharded."""
    yield from (one for one in _hits(project) if one.file is file)


@per_project
def _hits(project: Project) -> tuple[Hit, ...]:
    found: dict[tuple[str, int], Hit] = {}
    for trace in traces(project):
        optimizers = list(trace.where(is_optimizer))
        for wrap in trace.events:
            if WRAPPERS.get(wrap.name, DDP) != DDP:
                for one in _before(trace, optimizers, wrap, project):
                    found.setdefault((one.file.shown, one.line), one)
    return tuple(found.values())


def _before(trace: Trace, optimizers: list[Event], wrap: Event, project: Project) -> Iterator[Hit]:
    if any(one.index > wrap.index and not trace.exclusive(one, wrap) for one in optimizers):
        return
    for one in optimizers:
        if trace.order(one, wrap) not in (Order.SURELY, Order.MAYBE):
            continue
        mine, yours = meeting(one, wrap)
        model = _shared(mine, one, yours, wrap)
        if not model or mine.function is not yours.function or _assigned_between(model, mine, yours):
            continue
        sure = trace.order(one, wrap) is Order.SURELY and not _keeps_objects(wrap.call)
        sure = sure and "param_groups" not in project.file_with(mine.function).words
        yield hit(
            project.file_with(mine.function),
            mine.syntax,
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


def _name(event: Event) -> str:
    return event.name.rpartition(".")[2]


def _keeps_objects(call: ast.Call) -> bool:
    return any(one.arg is None or (one.arg == "use_orig_params" and not _is_false(one.value)) for one in call.keywords)


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _shared(mine: Site, optimizer: Event, yours: Site, wrap: Event) -> str:
    """Returns the text of the model that both calls are given, "" where that is not seen."""
    if not isinstance(mine.syntax, ast.Call) or not isinstance(yours.syntax, ast.Call) or not yours.syntax.args:
        return ""
    wrapped = {ast.unparse(one) for one in yours.syntax.args[: 1 if yours.syntax is wrap.call else None]}
    listed = {
        ast.unparse(one.func.value)
        for argument in mine.syntax.args
        for one in ast.walk(argument)
        if isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr in ("parameters", "named_parameters")
    }
    direct = mine.syntax is optimizer.call or bool(listed)
    given = listed if direct else {ast.unparse(one) for one in mine.syntax.args}
    named = {one for one in wrapped & given if one.replace(".", "").isidentifier()}
    likely = {one for one in named if "model" in one or "net" in one} if not direct else named
    return next(iter(sorted(likely)), "")


def _assigned_between(model: str, mine: Site, yours: Site) -> bool:
    lines = range(getattr(mine.syntax, "lineno", 0) + 1, getattr(yours.syntax, "lineno", 0))
    return any(
        isinstance(one, ast.Assign) and one.lineno in lines and any(ast.unparse(t) == model for t in one.targets)
        for one in mine.function.own_nodes
    )
