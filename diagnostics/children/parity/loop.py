"""The loop around what a user's `make()` gives: as one of N ranks, as one process, or with one rank's share."""

import contextlib
import os
import sys
from datetime import timedelta

import torch
import torch.distributed.nn  # before there is a group: defaults of its functions would keep that alive

from . import making

GROUP_TIMEOUT_S = 60


def run_or_refuse(request):
    """Trains; exits with code 2 and one sentence where what was named cannot be used."""
    try:
        run(request)
    except making.RefusedError as refusal:
        sys.stderr.write("%s\n" % refusal)
        sys.exit(2)


def run(request):
    """Trains until the recorder in this process ends it."""
    torch.manual_seed(request["seed"])
    torch.set_num_threads(1)
    if request["dtype"] == "float64":
        torch.set_default_dtype(torch.float64)
    given = making.made(request["make"])
    model = given["model"]
    if request["dtype"] == "float64":
        model.double()
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.manual_seed(request["seed"] + 1 + rank)  # ranks must not draw the same masks
    loop = Loop(request, given)
    if request["mode"] == "ranks":
        torch.distributed.init_process_group(request["backend"], timeout=timedelta(seconds=GROUP_TIMEOUT_S))
        loop.as_rank(_wrapped(request, given, model, rank, world), rank, world)
    else:
        loop.as_one(model)


def _wrapped(request, given, model, rank, world):
    if given.get("wrap"):
        model = given["wrap"](model, rank, world) or model
    elif request["wrap"] == "ddp":
        model = torch.nn.parallel.DistributedDataParallel(model)
    elif request["wrap"] == "fsdp2":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh("cpu", (world,))
        for child in model.children():
            if any(True for _ in child.parameters()) and not isinstance(child, torch.nn.ModuleList):
                fully_shard(child, mesh=mesh)
        fully_shard(model, mesh=mesh)
    return torch.compile(model) if request["compile"] else model


class Loop:
    """One process's training."""

    def __init__(self, request, given):
        self.request, self.given = request, given
        self.loss = making.loss_of(given) if given.get("loss") is not None else None
        self.batches = list(given["batches"])
        if request["dtype"] == "float64":
            self.batches = [mapped(one, lambda x: x.double() if x.is_floating_point() else x) for one in self.batches]
        self.accumulate = request["accumulate"] or given.get("accumulate") or 1
        self.recorder = sys.modules["_ups_doctor_agent"].agent.parity
        self.recorder.trains(given.get("loss"), getattr(type(given["model"]), "forward", None), given["make"])

    def as_rank(self, model, rank, world):
        """Trains on this rank's share of each global batch."""
        optimizer = making.optimizer_of(self.given, model)
        for step in range(self.request["steps"]):
            batch = self.share(self.batches[step % len(self.batches)], rank, world)
            self.recorder.given(0, 0, step, batch)
            self._train(model, batch, optimizer, self.accumulate)

    def as_one(self, model):
        """Trains on whole global batches, or on one rank's share of them, one after the other."""
        optimizer = making.optimizer_of(self.given, model)
        world, alone = self.request["world"], self.request["mode"] == "alone"
        for step in range(self.request["steps"]):
            batch = self.batches[step % len(self.batches)]
            shares = [self.share(batch, rank, world) for rank in range(world)]
            given = shares[self.request["rank"]] if alone else batch
            self.recorder.given(0, 0, step, given)
            self.recorder.batches[-1]["shares"] = [size_of(one) for one in shares]
            self._plain(model, given, optimizer, self.accumulate if alone else 1)

    def share(self, batch, rank, world):
        """Returns a rank's part of a global batch."""
        if self.given.get("shard"):
            return self.given["shard"](batch, rank, world)
        return mapped(batch, lambda one: one.tensor_split(world)[rank] if one.dim() else one)

    def _train(self, model, batch, optimizer, pieces):
        if self.given.get("train_step"):
            self.given["train_step"](model, batch, optimizer)
        else:
            self._plain(model, batch, optimizer, pieces)

    def _plain(self, model, batch, optimizer, pieces):
        if self.given.get("reference_step") and self.request["mode"] != "ranks":
            self.given["reference_step"](model, batch, optimizer)
            return
        optimizer.zero_grad(set_to_none=True)
        parts = cut(batch, pieces)
        for number, part in enumerate(parts):
            with _quiet(model, number < len(parts) - 1), self._autocast():
                loss = self.loss(model, part) / len(parts)
            loss.backward()
        if self.given.get("clip"):
            torch.nn.utils.clip_grad_norm_(list(model.parameters()), self.given["clip"])
        optimizer.step()

    def _autocast(self):
        return torch.autocast("cpu", torch.bfloat16) if self.request["amp"] else contextlib.nullcontext()


@contextlib.contextmanager
def _quiet(model, quiet):
    """Keeps a wrapper from communicating in the backward pass that follows."""
    if hasattr(model, "set_requires_gradient_sync"):
        model.set_requires_gradient_sync(not quiet)
        yield
    elif quiet and hasattr(model, "no_sync"):
        with model.no_sync():  # DDP looks at it in forward
            yield
    else:
        yield


def cut(batch, pieces):
    """Returns a batch as its micro-batches."""
    if pieces == 1:
        return [batch]
    return [mapped(batch, lambda one, at=at: one.chunk(pieces)[at] if one.dim() else one) for at in range(pieces)]


def size_of(batch):
    """Returns how many samples a batch holds."""
    if isinstance(batch, torch.Tensor):
        return len(batch) if batch.dim() else 0
    values = batch.values() if isinstance(batch, dict) else batch if isinstance(batch, (list, tuple)) else []
    return next((found for found in map(size_of, values) if found), 0)


def mapped(value, change):
    """Returns the same structure with `change(tensor)` for each tensor."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: mapped(one, change) for key, one in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[mapped(one, change) for one in value])
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(one, change) for one in value)
    return value
