"""Names of the parameters that DDP's message about unfinished reductions calls by number."""

from __future__ import annotations

import re

KIND = "unused-parameters"
NUMBERS = re.compile(r"did not receive grad for rank \d+: ([\d ]+)")
WRAPPER = "torch/nn/parallel/distributed.py"


def tell(agent, message, traceback):
    """Records the names of the parameters whose numbers `message` gives; the wrapper is in the traceback's frames."""
    found = NUMBERS.search(message)
    model = wrapped(traceback) if found is not None else None
    if model is None:
        return
    trained = [name for name, parameter in model.module.named_parameters() if is_reduced(model, name, parameter)]
    names = [trained[number] for number in map(int, found[1].split()) if number < len(trained)]
    agent.event(KIND, ", ".join(names), value=len(names), traceback=traceback)


def wrapped(traceback):
    """Returns the DistributedDataParallel whose method raised, None where none did."""
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_filename.replace("\\", "/").endswith(WRAPPER):
            return frame.f_locals.get("self")
        traceback = traceback.tb_next
    return None


def is_reduced(model, name, parameter):
    """Whether DDP gave a number to this parameter."""
    return parameter.requires_grad and name not in getattr(model, "parameters_to_ignore", ())
