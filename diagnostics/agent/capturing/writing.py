"""Writes what was captured, each stage into a folder of its own; what cannot be pickled becomes a sentence."""

from __future__ import annotations

import hashlib
import json
import os
import sys

from ..shared.redaction import hide, hide_words
from .packing import MAINS, pack
from .parts import said
from .script_names import planned

SCHEMA = 1
OWN_FOLDER = os.path.join("agent", "site")


class Writer:
    """The folder of this process."""

    def __init__(self, folder, limit):
        self.folder, self.limit = os.path.join(folder, str(os.getpid())), limit
        self.facts = {}  # by stage
        self.names = set()  # what the parts of the last stage name in the script

    def packed_arguments(self, record, records):
        """Returns what a module's constructor was given, packed, and "" or why it cannot be."""
        cls, args, kwargs = record.parts
        return self._packed({"class": cls, "args": args, "kwargs": kwargs}, _named(cls, args, kwargs), records)

    def packed_instance(self, root):
        """Returns the module itself, packed, and "" or why it cannot be."""
        return self._packed(root, {"": root}, None)

    def _packed(self, value, named, records):
        try:
            return pack(value, self.limit, records), ""
        except Exception as error:
            return None, said(named, error, lambda part: pack(part, 0, records))

    def update(self, stage, more):
        """Changes what was told of a stage."""
        if stage in self.facts:
            self.facts[stage].update(more)
            self._tell(stage)

    def write(self, stage, root, record, instance, more, call=None):
        """Writes a stage; returns whether all of it could be written."""
        folder = os.path.join(self.folder, stage)
        os.makedirs(folder, exist_ok=True)
        cls = record.parts[0] if record is not None else type(root)  # FSDP2 changes the class of what it is given
        parts = {"model": (record.packed, record.problem) if record is not None else (None, "")}
        if instance is not None:
            parts["instance"] = instance
        if call is not None:
            named = {"argument %d" % (at + 1): one for at, one in enumerate(call[0])}
            named.update(("argument `%s`" % name, one) for name, one in call[1].items())
            parts["batch"] = self._packed({"args": call[0], "kwargs": call[1]}, named, None)
        kept = {name: packed for name, (packed, _) in parts.items() if packed is not None}
        for name, packed in kept.items():
            _save(folder, name, packed)
        facts = {
            "schema": SCHEMA,
            "class": cls.__qualname__.rpartition("<locals>.")[2],
            "place": _place(cls),
            "reached": stage,
            "parts": sorted(kept),
            "problems": {name: hide(problem) for name, (_, problem) in parts.items() if problem},
            "spared": {name: packed.spared for name, packed in kept.items() if packed.spared},
            **_script(),
            **more,
        }
        self.names = set().union(*(packed.names for packed in kept.values()))
        facts["plan"] = self._plan(folder, self.names)
        self.facts[stage] = facts
        self._tell(stage)
        return "batch" in kept or call is None or not kept

    def write_call(self, number, args, kwargs):
        """Adds a later call of the model that is trained; returns whether all of it could be written."""
        facts, name = self.facts["call"], "batch-%d" % number
        packed, _ = self._packed({"args": args, "kwargs": kwargs}, {}, None)
        if packed is None or "batch" not in facts["parts"] or not packed.names <= self.names:
            return False
        _save(os.path.join(self.folder, "call"), name, packed)
        facts["parts"] = sorted([*facts["parts"], name])
        if packed.spared:
            facts["spared"][name] = packed.spared
        self._tell("call")
        return True

    def _plan(self, folder, names):
        """Writes the values that the script's definitions need; returns what has to be run or set, in order."""
        path = getattr(sys.modules.get(MAINS[0]), "__file__", None)
        if not path or not names:
            return []
        plan, packed = planned(path, names, vars(sys.modules[MAINS[0]]), lambda value: pack(value, self.limit))
        for number, one in packed.items():
            _save(folder, "global-%d" % number, one)
        return plan

    def _tell(self, stage):
        path = os.path.join(self.folder, stage, "capture.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.facts[stage], file)
        os.replace(path + ".new", path)


def _named(cls, args, kwargs):
    named = {"class %s" % cls.__name__: cls}
    named.update(("argument %d of %s" % (at + 1, cls.__name__), one) for at, one in enumerate(args))
    named.update(("argument `%s` of %s" % (name, cls.__name__), one) for name, one in kwargs.items())
    return named


def _save(folder, name, packed):
    import torch

    with open(os.path.join(folder, name + ".pkl"), "wb") as file:
        file.write(packed.data)
    if packed.tensors:
        torch.save(packed.tensors, os.path.join(folder, name + ".tensors"))


def _place(cls):
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    init = getattr(cls.__init__, "_ups_doctor_code", None) or getattr(cls.__init__, "__code__", None)
    if init is not None and init.co_filename == file:
        return "%s:%d" % (file, init.co_firstlineno)
    return str(file or "")


def tree_of(root):
    """Returns what a model made again must look like: classes and parameters by their names."""
    return {
        "modules": {path: type(module).__qualname__ for path, module in root.named_modules()},
        "parameters": {name: [list(one.shape), bool(one.requires_grad)] for name, one in root.named_parameters()},
    }


def _script():
    main = sys.modules.get(MAINS[0])
    path = os.path.abspath(getattr(main, "__file__", None) or "")
    spec = getattr(main, "__spec__", None)
    return {
        "script": path,
        "script_sha": _digest(path),
        "script_module": spec.name if spec is not None else "",
        "argv": list(hide_words(sys.argv)),
        "cwd": os.getcwd(),
        "search_path": [os.path.abspath(one or ".") for one in sys.path if not one.endswith(OWN_FOLDER)],
    }


def _digest(path):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""
