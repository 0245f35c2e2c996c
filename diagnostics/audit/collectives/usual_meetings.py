"""Whether ranks meet in what the source alone leaves open: a forward, a backward, a state dict."""

from __future__ import annotations

import ast

from diagnostics.static.autograd.grad_mode import is_off
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.collective_sites import DDP, CollectiveSite, CollectiveSites, SyncKind
from diagnostics.static.spmd.divergent_branch import DivergentBranch
from diagnostics.static.spmd.library_objects import LibraryType, ModelBuffers

_SHARDS = {"fully_shard", "FullyShardedDataParallel", "FSDP"}


def usually_meets(parting: DivergentBranch, project: Project) -> bool:
    """A wrapped model averages gradients always; its forward meets where there are buffers to broadcast."""
    reach = parting.here
    if reach.op.endswith("state_dict"):
        if _shards_later(reach) or project.fact(CollectiveSites).hangs_on_kind(reach.chain):
            return False
        _, function = reach.leaf
        return not _SHARDS.isdisjoint(project.fact(ImportClosures).words(function.file))
    if reach.op == "save_checkpoint":
        return True
    if reach.meeting is SyncKind.FORWARD:
        if not _is_given_a_wrapper(reach, project) or _sends_no_buffers(reach, project):
            return False
        without = any(is_off(call, function, project.file_with(function)) for call, function in reach.chain)
        if without and not _others_meet_first(parting, project):
            return False  # library_calls.py: what it sends the others take at their next step
        return project.fact(ModelBuffers).are_there
    return reach.meeting is SyncKind.BACKWARD


def _sends_no_buffers(reach: CollectiveSite, project: Project) -> bool:
    """Whether the program's DistributedDataParallel are told, or may be told, to broadcast no buffers."""
    if LibraryType.DDP not in reach.label:
        return False
    _, function = reach.leaf
    wrappers = [call for call, _ in project.fact(ImportClosures).calls(function.file, DDP)]
    told = [next((one.value for one in call.keywords if one.arg == "broadcast_buffers"), None) for call in wrappers]
    return bool(told) and all(one is not None and not (isinstance(one, ast.Constant) and one.value) for one in told)


def _is_given_a_wrapper(reach: CollectiveSite, project: Project) -> bool:
    """Whether the model that is called at the end is, on this way, one that others may be, too: not `model.module`."""
    called = reach.leaf[0].func
    for (call, function), (_, inner) in zip(reach.chain[-2::-1], reach.chain[:0:-1], strict=True):
        if not isinstance(called, ast.Name) or called.id not in inner.parameters:
            return True
        at = inner.parameters.index(called.id) - inner.implied
        given = next((one.value for one in call.keywords if one.arg == called.id), None)
        given = call.args[at] if given is None and 0 <= at < len(call.args) else given
        if given is None:
            return True
        objects = project.fact(CollectiveSites).objects
        if not any(kind in (LibraryType.DDP, LibraryType.FSDP) for kind in objects.of(given, function)):
            return False
        called = given
    return True


def _others_meet_first(parting: DivergentBranch, project: Project) -> bool:
    """Whether the others come to another operation before their next forward: a barrier behind the branch."""
    file, sites = project.file_with(parting.function), project.fact(CollectiveSites)
    around = file.parents.get(parting.decision)
    block = next((one for name in ("body", "orelse", "finalbody")
                  if isinstance(one := getattr(around, name, None), list) and parting.decision in one), [])  # fmt: skip
    for statement in block[block.index(parting.decision) + 1 :] if block else ():
        meeting = sites.meeting_in(parting.function)
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call) and id(node) in meeting]
        found = [site for call in calls if (site := sites.of_call(call, parting.function)) is not None]
        if found:
            return found[0].meeting is SyncKind.COLLECTIVE and found[0].sure and not found[0].grouped
    return False


def _shards_later(reach: CollectiveSite) -> bool:
    """Whether the model is sharded further down in the same function: here it is whole yet."""
    call, function = reach.leaf
    return any(
        isinstance(node, ast.Call) and node.lineno > call.lineno and "shard" in last_name(node.func).lower()
        for node in function.nodes_of(ast.Call)
    )
