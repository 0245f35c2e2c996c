"""Watches one step: modules as they are called, operations that write, tensors that autograd saves.

Operations are seen by a TorchDispatchMode, below autograd, so that a write through a view, `.data` or an `out=`
is seen too. What autograd saves passes our hooks; these switch its own version check off, so we make that check.
"""

import inspect

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.modules import module as torch_module
from torch.utils._python_dispatch import TorchDispatchMode

from .memory import meets, storage
from .places import called_by_a_layer, here

MAX_WRITES = 20000
MAX_CALLS = 200000


class Watch:
    """What was seen of one step, and the names of the tensors that are looked for."""

    def __init__(self, model, inputs):
        self.paths = {id(module): path for path, module in reversed(list(model.named_modules(remove_duplicate=False)))}
        self.known = {}  # storage -> [(kind, name, tensor)]
        for name, tensor in model.named_parameters():
            self._know("parameter", name, tensor)
        for name, tensor in model.named_buffers():
            self._know("buffer", name, tensor)
        for name, tensor in inputs:
            self._know("input", name, tensor)
        self.phase = "forward"
        self.stack = []
        self.calls = []  # (path, class, place) in the order of entering
        self.writes = []
        self.before = {}  # (kind, name) -> content before the first write of this step
        self.overwritten = []
        self.order = 0

    def _know(self, kind, name, tensor):
        key = storage(tensor)
        if key is not None:
            self.known.setdefault(key, []).append((kind, name, tensor))

    def owner_of(self, tensor):
        """Returns (kind, name, tensor) of the parameter, buffer or input whose memory this is, else None."""
        near = self.known.get(storage(tensor), ())
        return next((one for one in near if len(near) == 1 or meets(one[2], tensor)), None)

    @property
    def module(self):
        """The path of the innermost open module, "" for the model itself."""
        return self.stack[-1][0] if self.stack else ""

    def entered(self, module, args):
        """Is called before each module's forward."""
        path = self.paths.get(id(module))
        if path is None:
            return
        self.stack.append((path, module))
        if self.phase == "forward" and len(self.calls) < MAX_CALLS:
            self.calls.append({"path": path, "class_name": type(module).__name__, "place": here()})

    def left(self, module, args, result):
        """Is called after each module's forward, where torch allows it also after an exception."""
        if any(module is open_one for _, open_one in self.stack):
            while self.stack.pop()[1] is not module:
                pass

    def wrote(self, operation, tensor):
        """Is called before an operation writes to `tensor`."""
        self.order += 1
        if len(self.writes) >= MAX_WRITES:
            return
        owner = self.owner_of(tensor)
        kind, name = owner[:2] if owner else ("", "")
        if owner and (kind, name) not in self.before:
            self.before[kind, name] = owner[2].detach().clone()
        self.writes.append(
            {
                "order": self.order,
                "operation": operation,
                "kind": kind,
                "name": name,
                "module": self.module,
                "place": here(),
                "by_layer": called_by_a_layer(),
                "phase": self.phase,
                "storage": storage(tensor),
            }
        )

    def saved(self, tensor):
        """Is called with each tensor that autograd saves; returns what is kept of it."""
        self.order += 1
        return tensor, tensor._version, self.order, self.module, here()

    def needed(self, kept):
        """Is called when backward needs a saved tensor: the version check that autograd makes without hooks."""
        tensor, version, order, module, place = kept
        if tensor._version != version and len(self.overwritten) < 50:
            self.overwritten.append(
                {
                    "tensor": self._name(tensor),
                    "shape": list(tensor.shape),
                    "saved_in": module,
                    "saved_at": place,
                    "saved_version": version,
                    "version": tensor._version,
                    "write": self._write_after(tensor, order),
                }
            )
        return tensor

    def _name(self, tensor):
        owner = self.owner_of(tensor)
        return "%s %s" % owner[:2] if owner else ""

    def _write_after(self, tensor, order):
        key = storage(tensor)
        later = (write for write in self.writes if write["storage"] == key and write["order"] > order)
        return next(later, None)


class Writes(TorchDispatchMode):
    """Tells a Watch which operation writes to what."""

    def __init__(self, watch):
        super().__init__()
        self.watch = watch
        self.written = {}  # operation -> positions and names of the arguments it writes to

    @classmethod
    def _should_skip_dynamo(cls):
        """Saves the import of the compiler, which takes as long as torch's own: nothing is compiled here."""
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Passes the operation on unchanged."""
        kwargs = kwargs or {}
        for tensor in self._targets(func, args, kwargs):
            self.watch.wrote(str(func).replace("aten.", "", 1), tensor)
        return func(*args, **kwargs)

    def _targets(self, func, args, kwargs):
        if func not in self.written:
            self.written[func] = written_arguments(func)
        for index, name in self.written[func]:
            value = args[index] if index < len(args) else kwargs.get(name)
            for tensor in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(tensor, torch.Tensor):
                    yield tensor


def written_arguments(func):
    """Returns (position, name) of each argument that the operation's schema says it writes to."""
    arguments = getattr(getattr(func, "_schema", None), "arguments", ())
    writes = ((index, one) for index, one in enumerate(arguments) if one.alias_info is not None)
    return [(index, one.name) for index, one in writes if one.alias_info.is_write]


class Watching:
    """A `with` block in which a Watch sees modules and, unless `light`, operations and saved tensors."""

    def __init__(self, watch, light=False):
        self.watch = watch
        self.contexts = [] if light else [Writes(watch), saved_tensors_hooks(watch.saved, watch.needed)]
        self.hooks = []

    def __enter__(self):
        after = torch_module.register_module_forward_hook
        always = {"always_call": True} if "always_call" in inspect.signature(after).parameters else {}
        self.hooks = [
            torch_module.register_module_forward_pre_hook(self.watch.entered),
            after(self.watch.left, **always),
        ]
        for context in self.contexts:
            context.__enter__()

    def __exit__(self, *exception):
        for context in reversed(self.contexts):
            context.__exit__(*exception)
        for hook in self.hooks:
            hook.remove()
