"""A model and a batch captured from a script's run: what lies in the folder, and how both are made again.

    from .captured import CannotRebuild, batches, build, facts

    facts(folder)      capture.json, see below
    build(folder)      the model, in train mode, on the CPU; raises what its constructor raises
    batches(folder)    a function that gives (args, kwargs), anew each time; None where the run reached no batch

Neither runs the script: of its top level only what the model needs is defined again (see `script.py`). Where that
cannot be done they raise CannotRebuild, one sentence with `hint`.

The folder, written by the agent inside the job (agent/script_capture.py):

    capture.json        what follows
    model.pkl           {"class", "args", "kwargs"} as the constructor was given them, before it ran
    instance.pkl        the model as handed to its wrapper or first called; absent where the run did not get there
    batch.pkl           {"args", "kwargs"} of the first call
    globals.pkl         {name: value} of the script's module, those that the model's source code needs
    *.tensors           the tensors of the pickle of that name: list for torch.load

    {"schema": 1, "script": "/abs/train.py", "argv": [...], "cwd": "...", "search_path": [...],
     "class": "Net", "place": "/abs/train.py:12",
     "reached": "construct" / "wrap" / "call",    with "construct" there is no more than model.pkl: the constructor
                                                  did not return; with "wrap" there may be no batch
     "build": "constructor" / "instance",         which of both gives the model; "instance" where the script changed
                                                  it after its construction, or its arguments cannot be pickled
     "method": "forward",                         or the method that stands for it: Lightning's "training_step"
     "batch": true, "group_first": false,         true: a process group was there when the constructor ran
     "seen": {"wrapper": "ddp", "options": {"find_unused_parameters": true}, "backend": "gloo", "world": 1,
              "device": "cpu", "amp": "bfloat16", "compile": false, "threads": 8},    "" and false: not used
     "notes": ["one sentence each: values that were too large to keep, other models that the script trains", ...]}

Where `method` is not "forward", `build` returns the model with its `forward` replaced by that method.
Tensors over the size limit keep shape, strides, dtype and range: their values are drawn anew, the same each time.
"""

from .rebuilt import batches, build, facts
from .refused import CannotRebuild

__all__ = ["CannotRebuild", "batches", "build", "facts"]
