import os


class SpotInstanceReclaimed(RuntimeError):
    pass


def poll_reclaim(rank, epoch):
    """The first attempt of the last worker meets the end of its instance."""
    attempt = int(os.environ.get("RESTART_COUNT", "0"))
    if attempt == 0 and epoch == 2 and rank == int(os.environ["WORLD_SIZE"]) - 1:
        raise SpotInstanceReclaimed("instance is going away in 120 s")
