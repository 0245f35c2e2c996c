"""A model and a batch captured from a script's run: what lies in the folder, and how both are made again.

    from .captured import CannotRebuild, batches, build, facts

    facts(folder)      capture.json, see below
    build(folder)      the model, in train mode, on the CPU; raises what its constructor raises
    batches(folder)    a function that gives (args, kwargs), anew each time; None where the run reached no batch

Neither runs the script: of its top level only what the model needs is defined again (see `script.py`). Where that
cannot be done they raise CannotRebuild, one sentence with `hint`.

The folder, written by the agent inside the job (agent/capturing/):

    capture.json        what follows
    model.pkl           {"class", "args", "kwargs"} as the constructor was given them, before it ran
    instance.pkl        the model as handed to its wrapper or first called; absent where the run did not get there
    batch.pkl           {"args", "kwargs"} of the first call
    batch-N.pkl         the same of the Nth, where the first step calls the model more than once before it goes backward
    global-N.pkl        {name: value} of the script's module, one that the model's source code needs
    *.tensors           the tensors of the pickle of that name, a list for torch.load

    {"schema": 1, "class": "Net", "place": "/abs/train.py:12",
     "script": "/abs/train.py", "script_module": "", "script_sha": "...", "argv": [...], "cwd", "search_path": [...],
     "reached": "construct" / "wrap" / "call",    "construct": its constructor did not return, and there is no more
                                                  than model.pkl; "wrap": the wrapper did not, and there is no batch
     "parts": ["batch", "instance", "model"],     which of the pickles are there
     "problems": {"model": "argument `act` of Net is a lambda (train.py:31)"},    why others are not
     "spared": {"batch": 4096},                   bytes of tensors whose values were too large to keep
     "build": "constructor" / "instance",         which of both gives the model; "instance" where the script changed
                                                  it after its construction, or its arguments cannot be pickled
     "method": "forward",                         or the method that stands for it: Lightning's "training_step"
     "tree": {"modules": {path: class}, "parameters": {name: [shape, requires_grad]}},
     "plan": [["run", 3], ["value", "WIDTH", 0, 7]],    what of the script is done again, see script.py
     "seen": {"wrapper": "ddp", "options": {"find_unused_parameters": true}, "backend": "gloo", "world": 1,
              "device": "cpu", "amp": "bfloat16", "compile": false, "threads": 8},    "" and false: not used
     "notes": ["one sentence each: other models that the script trains, ..."]}

Where `method` is not "forward", `build` returns the model with its `forward` replaced by that method.
Tensors over the size limit keep shape, strides, dtype and range: their values are drawn anew, the same each time.
"""

from .rebuilt import batches, build, facts, readable
from .refused import CannotRebuild

__all__ = ["CannotRebuild", "batches", "build", "facts", "readable"]
