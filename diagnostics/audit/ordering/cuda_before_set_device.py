"""CUDA is used before the rank has chosen its GPU.

What it does: follows each start of the project call by call. With an NCCL process group in it, it flags `.cuda()`,
`.to("cuda")` and collectives that run before torch.cuda.set_device on the same way, and the first of them where
nothing in the project chooses the rank's GPU at all.

Why it matters: until then "cuda" is GPU 0 for every rank. Their models and contexts crowd on it until it is out of
memory, and NCCL refuses two ranks on one GPU ("Duplicate GPU detected") or hangs.

Bad:

    dist.init_process_group("nccl")
    model.cuda()
    torch.cuda.set_device(local_rank)

Good:

    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    model.cuda()

What it cannot see: CUDA_VISIBLE_DEVICES set to one GPU for each rank by the launcher, which makes it harmless, and
devices that are chosen by `with torch.cuda.device(...)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.ordering.entry_points import EntryPoint
from diagnostics.static.ordering.event_order import CallEvent, EventOrder, Trace, meeting
from diagnostics.static.ordering.event_traces import event_traces
from diagnostics.static.ordering.traced_calls import INIT, is_collective
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A105"
NAME = "cuda-before-set-device"
SEVERITY = Severity.WARNING
SUBJECT = ("cuda", "set_device", "device")
CHECKLIST = "set_device comes before the first use of CUDA"
_SET = "torch.cuda.set_device"
# Other ways to give each rank its GPU; where one of these words stands, nothing is said about a missing set_device.
_CHOOSERS = {"set_device", "CUDA_VISIBLE_DEVICES", "device_id", "device_ids", "local_rank", "LOCAL_RANK",
             "device_count", "current_device", "accelerate", "deepspeed", "lightning"}  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the first use of CUDA that comes before set_device."""
    yield from (one for one in _hits(project) if one.file is file)


@per_project
def _hits(project: Project) -> tuple[Violation, ...]:
    found: dict[tuple[str, int], Violation] = {}
    for trace in event_traces(project):
        one = _in_trace(trace, project)
        if one is not None:
            found.setdefault((one.file.shown, one.line), one)
    return tuple(found.values())


def _in_trace(trace: Trace, project: Project) -> Violation | None:
    chosen, start = trace.first(_SET), next(iter(trace.named(*INIT)), None)
    if start is None or not _is_nccl(start.call) or _explicit(start.call) or trace.start is EntryPoint.UNCALLED:
        return None
    for event in trace.events[: chosen.index if chosen is not None else None]:
        used = _use(event, start)
        if not used:
            continue
        if chosen is None:
            return _never(event, used, start, project) if _nothing_chooses(project) else None
        if trace.order(event, chosen) is EventOrder.SURELY:
            return _late(event, used, chosen, project)
    return None


def _nothing_chooses(project: Project) -> bool:
    return not any(one.words & _CHOOSERS for one in project.audited)


def _late(event: CallEvent, used: str, chosen: CallEvent, project: Project) -> Violation:
    mine, yours = meeting(event, chosen)
    return violation(
        project.file_with(mine.function),
        mine.syntax,
        f"{used} runs before torch.cuda.set_device at {_place(chosen, project)}: "
        "it takes GPU 0 on every rank of a machine",
        f"call {ast.unparse(yours.syntax)} first",
        steps=(
            step(project.file_with(event.function), event.call, f"{used} uses the current device, GPU 0"),
            step(project.file_with(chosen.function), chosen.call, "the rank's GPU is chosen only here"),
        ),
        confidence=Confidence.LIKELY,
    )


def _never(event: CallEvent, used: str, start: CallEvent, project: Project) -> Violation:
    return violation(
        project.file_with(event.function),
        event.call,
        f"{used} takes GPU 0 on every rank of a machine: nothing gives a rank its own",
        'call torch.cuda.set_device(int(os.environ["LOCAL_RANK"])) before the first use of CUDA',
        steps=(step(project.file_with(start.function), start.call, "one process for each GPU, with NCCL"),),
        confidence=Confidence.LIKELY,
    )


def _place(event: CallEvent, project: Project) -> str:
    return project.file_with(event.function).place(event.call.lineno)


def _is_nccl(call: ast.Call) -> bool:
    values = [*call.args[:1], *(one.value for one in call.keywords if one.arg in ("backend", "dist_backend"))]
    return any(isinstance(one, ast.Constant) and "nccl" in str(one.value) for one in values)


def _explicit(call: ast.Call) -> bool:
    return any(one.arg == "device_id" for one in call.keywords)


def _use(event: CallEvent, start: CallEvent) -> str:
    """Returns what uses the current GPU, "" for what does not."""
    arguments = [*event.call.args, *(one.value for one in event.call.keywords if one.arg == "device")]
    if event.name == ".cuda" or event.name.endswith(".cuda"):
        return f"{ast.unparse(event.call.func)}()" if not event.call.args and not event.call.keywords else ""
    if event.name == ".to" and arguments and isinstance(arguments[0], ast.Constant) and arguments[0].value == "cuda":
        return f"{ast.unparse(event.call.func)}('cuda')"
    makes_group = event.name.rpartition(".")[2] in operations.GROUP_MAKERS
    if is_collective(event.name) and event.index > start.index and not makes_group:
        return f"{ast.unparse(event.call.func)}()"
    return ""
