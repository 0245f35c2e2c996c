"""The process group of a try, from the first rank to the last goodbye."""

import datetime
import os

import torch
import torch.distributed as dist

from ..inspection.refusal import Refusal

_parting = []  # the group in which ranks say goodbye: a barrier of the model's own must not meet ours


def device_of(wanted):
    """Returns this rank's device: of several GPUs the one of its LOCAL_RANK; ranks beyond their number share one."""
    kind = torch.device(wanted)
    if kind.type != "cuda":
        return kind
    if not torch.cuda.is_available():
        raise Refusal("device %s cannot be used: torch sees no GPU" % wanted, "nvidia-smi shows what the machine has")
    own = kind
    if kind.index is None:
        own = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    torch.cuda.set_device(own)
    return own


def begin(backend, rank, world_size, timeout_s):
    """Opens the default group from the environment; with one rank too, for models that ask for their rank."""
    if not dist.is_available():
        if world_size > 1:
            raise Refusal("this torch was built without torch.distributed")
        return
    if dist.is_initialized():  # by the user's module, when it was imported
        return
    available = {"gloo": "is_gloo_available", "nccl": "is_nccl_available"}.get(backend)
    if available and not getattr(dist, available, lambda: True)():
        raise Refusal("this torch was built without %s" % backend)
    place = {}
    if world_size == 1 and "MASTER_PORT" not in os.environ:
        place = {"store": dist.HashStore(), "rank": rank, "world_size": world_size}
    timeout = datetime.timedelta(seconds=timeout_s)
    dist.init_process_group(backend, timeout=timeout, **place)
    if world_size > 1:
        _parting.append(dist.new_group(backend="gloo", timeout=timeout))


def end():
    """Has ranks wait for each other and part. A peer that has gone is that peer's failure: ours came to its end."""
    if not (dist.is_available() and dist.is_initialized()):
        return
    try:
        if dist.get_world_size() > 1:
            dist.barrier(*_parting)
        dist.destroy_process_group()
    except RuntimeError as error:
        print("the ranks did not part in order: %s" % error)
