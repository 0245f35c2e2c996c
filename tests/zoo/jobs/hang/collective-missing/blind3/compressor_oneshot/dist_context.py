import contextlib
import datetime
import logging

import torch.distributed as dist

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def suspend_distributed_timeout(timeout=datetime.timedelta(hours=3), current_group=None):
    """Long single sided work inside; members meet again under an extended timeout."""
    if not dist.is_initialized():
        yield
        return
    if current_group is None:
        current_group = dist.group.WORLD
    suspend_group = dist.new_group(backend="gloo", timeout=timeout)
    try:
        yield
    finally:
        dist.barrier(group=suspend_group)
        dist.destroy_process_group(suspend_group)
        logger.info("timeout of %s is in force again", current_group.group_name)
