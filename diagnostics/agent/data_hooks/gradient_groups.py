"""Which ranks train one model together: told once a model, from its wrappers, its shards and the shapes it trains.

Two ranks may read the same samples by design where they hold parts of one model (tensor, context or pipeline
parallel). That is told by the ranks of the wrapper's group beside those of the device meshes and other groups.
"""

from __future__ import annotations

import functools
import sys

from ..imports import when_imported
from ..shared.operations import ranks_text
from .loader_facts import group_exists

MESHES = "torch.distributed.device_mesh"
# What cuts one model, or one sequence, over the ranks of a mesh that may have one dimension only.
CUTS = (
    ("torch.distributed.tensor.parallel.api", "parallelize_module"),
    ("torch.distributed.tensor.experimental._attention", "context_parallel"),
    ("torch.distributed.tensor.experimental._context_parallel._attention", "context_parallel"),
)
MOST_TOLD = 16  # of each kind
MOST_MODULES, MOST_PARAMETERS = 4000, 4000
MOST_SHAPES = 1200  # characters


class GradientGroups:
    """What this process told of its groups."""

    def __init__(self, agent):
        self._agent = agent
        self.forget()

    def forget(self):
        """Starts over in a forked child."""
        self._told, self._seen = set(), set()

    def look(self, model):
        """Tells of the wrappers inside of a model that is called for the first time. Never raises."""
        if id(model) in self._seen or len(self._seen) >= MOST_TOLD:
            return
        self._seen.add(id(model))
        try:
            for number, module in enumerate(model.modules()):
                if number >= MOST_MODULES:
                    break
                self._look_at(module)
        except Exception:
            pass  # what cannot be told of a model is not; the job goes on

    def _look_at(self, module):
        names = [kind.__name__ for kind in type(module).__mro__]
        if "DistributedDataParallel" in names:
            self._tell("ddp", _ranks(module.process_group))
        elif "FullyShardedDataParallel" in names:
            both = getattr(module, "_inter_node_pg", None)  # a hybrid one reduces over all its nodes
            self._tell("fsdp", _ranks(module.process_group if both is None else None))
        elif "FSDPModule" in names:
            group = module._get_fsdp_state()._fsdp_param_group
            if group is not None:
                mesh = group.mesh_info.mesh
                self._tell("fully_shard", mesh.mesh.flatten().tolist(), mesh)

    def stepped(self, optimizer):
        """Tells the shapes that an optimizer trains, at its first step: a gradient that is reduced by hand has one."""
        if len(self._told) >= 4 * MOST_TOLD or not group_exists():
            return
        shapes, total = set(), 0
        parameters = [one for group in optimizer.param_groups for one in group["params"]][:MOST_PARAMETERS]
        for one in parameters:
            shapes.add("x".join(map(str, one.shape)) or "scalar")
            total += one.numel()
        text = "parameters=%d shapes=%s" % (total, ",".join(sorted(shapes)))
        self._event("trained-shapes", text[:MOST_SHAPES])

    def mesh(self, mesh):
        """Tells of a device mesh of several dimensions."""
        if mesh.mesh.dim() > 1:
            self._event("device-mesh", _mesh_text(mesh))

    def cut(self, args, kwargs):
        """Tells the ranks over which one model is cut."""
        for value in args + tuple(kwargs.values()):
            if type(value).__name__ == "DeviceMesh":
                self._event("model-parallel", "ranks=%s" % ranks_text(value.mesh.flatten().tolist()))

    def _tell(self, how, ranks, mesh=None):
        text = "how=%s ranks=%s" % (how, ranks_text(ranks))
        if mesh is not None and mesh.mesh.dim() > 1:
            text += " " + _mesh_text(mesh)
        self._event("gradient-group", text)

    def _event(self, kind, text):
        if (kind, text) not in self._told and len(self._told) < 4 * MOST_TOLD:
            self._told.add((kind, text))
            self._agent.event(kind, text)


def _mesh_text(mesh):
    """Returns "shape=2x2 of=0-3": the ranks in the order of the mesh."""
    shape = "x".join(map(str, mesh.mesh.shape))
    return "shape=%s of=%s" % (shape, ranks_text(mesh.mesh.flatten().tolist()))


def _ranks(group):
    """Returns the global ranks of a group, those of all for None."""
    return list(sys.modules["torch.distributed"].get_process_group_ranks(group))


def watch(agent):
    """Returns the recorder; meshes are seen when they are made."""
    recorder = GradientGroups(agent)
    agent.at_fork.append(recorder.forget)
    when_imported(MESHES, lambda: _watch_meshes(recorder))
    for module, name in CUTS:
        when_imported(module, functools.partial(_watch_cut, recorder, module, name))
    return recorder


def _watch_cut(recorder, module, name):
    original = getattr(sys.modules[module], name, None)
    if original is None:
        return

    @functools.wraps(original)
    def call(*args, **kwargs):
        try:
            recorder.cut(args, kwargs)
        except Exception:
            pass  # a mesh of another kind; the job goes on
        return original(*args, **kwargs)

    setattr(sys.modules[module], name, call)


def _watch_meshes(recorder):
    owner = getattr(sys.modules[MESHES], "DeviceMesh", None)
    if owner is None:
        return
    original = owner.__init__

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):  # noqa: N807
        original(self, *args, **kwargs)
        try:
            recorder.mesh(self)
        except Exception:
            pass  # a mesh of another kind; the job goes on

    owner.__init__ = __init__
