"""Files of a parity experiment, one folder a rank.

RUN/rank-R/start.pt             parameters of each optimizer, buffers, when the model is first called
RUN/rank-R/step-N.pt            one optimizer step: see session.Session.stepped
RUN/rank-R/batch-L-P-I.pt       batch I of pass P over loader L, as the loop got it
RUN/rank-R/drawn-batch-L-P-I.pt the indices of its samples, None where they are not known
RUN/rank-R/facts.json           names, places, lengths of loaders; rewritten at each step
RUN/rank-R/done                 this rank has taken all steps
"""

from __future__ import annotations

import json
import os
import time

WAIT_S = 30.0  # for the other ranks to have taken their last step: connections stay open for them
POLL_S = 0.01


def save(folder, name, content):
    """Writes tensors, whole or not at all."""
    import torch

    path = os.path.join(folder, name)
    torch.save(content, path + ".part")
    os.replace(path + ".part", path)


def load(folder, name):
    """Reads what `save` wrote in an experiment of this user; batches may be of any class."""
    import torch

    return torch.load(os.path.join(folder, name), map_location="cpu", weights_only=False)


def write_facts(folder, facts):
    """Replaces facts.json."""
    path = os.path.join(folder, "facts.json")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(facts, file)
    os.replace(path + ".part", path)


def read_facts(folder):
    """Returns what a rank wrote last, {} where there is nothing."""
    try:
        with open(os.path.join(folder, "facts.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def wait_for_all(run, world):
    """Waits, bounded, until every rank of a run has taken its last step."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        if all(os.path.exists(os.path.join(run, "rank-%d" % rank, "done")) for rank in range(world)):
            return
        time.sleep(POLL_S)  # a file that another process makes: nothing to wait on
