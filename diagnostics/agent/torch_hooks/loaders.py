"""The first iterator of each DataLoader: with which sampler, and whether there was a process group by then."""

from __future__ import annotations

import functools
import sys
import weakref

MODULE = "torch.utils.data.dataloader"
GROUPS = "torch.distributed.distributed_c10d"


def watch(agent):
    """Wraps `DataLoader.__iter__`."""
    owner = sys.modules[MODULE].DataLoader
    original, seen = owner.__iter__, {}

    @functools.wraps(original)
    def __iter__(self):  # noqa: N807
        key = id(self)
        if key not in seen:
            try:
                seen[key] = weakref.ref(self, lambda _: seen.pop(key, None))
                agent.event("loader-iter", _text(self), frame=sys._getframe(1))
            except Exception:
                pass  # nobody saw this loader; the job goes on
        return original(self)

    owner.__iter__ = __iter__


def _text(loader):
    """Returns "workers=2 sampler=RandomSampler batch_size=4 group=yes dataset=Samples"."""
    batches = type(getattr(loader, "batch_sampler", None)).__name__
    sampler = type(getattr(loader, "sampler", None)).__name__
    groups = sys.modules.get(GROUPS)
    group = groups is not None and groups.GroupMember.WORLD is not None
    words = (
        ("workers", loader.num_workers),
        # A batch sampler of the job's own decides what is read, whatever the sampler is.
        ("sampler", sampler if batches in ("BatchSampler", "NoneType") else batches),
        ("batch_size", getattr(loader, "batch_size", None)),
        ("group", "yes" if group else "no"),
        ("dataset", type(loader.dataset).__name__),
    )
    return " ".join("%s=%s" % word for word in words)
