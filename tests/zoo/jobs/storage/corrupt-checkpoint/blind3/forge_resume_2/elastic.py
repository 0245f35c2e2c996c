import logging
import re

logger = logging.getLogger(__name__)
STEP = re.compile(r"step_(\d+)$")


def step_of(path):
    return int(STEP.search(path.name).group(1))


def resolve_resume_path(cfg):
    """Where to go on: an explicit folder, the pointer of the last commit, or the newest step."""
    if cfg.resume == "none":
        return None
    if cfg.resume != "auto":
        return cfg.dir / cfg.resume
    pointer = cfg.dir / "latest"
    if pointer.exists():
        return pointer.resolve()
    candidates = [path for path in cfg.dir.glob("step_*") if path.is_dir()]
    if not candidates:
        return None
    newest = max(candidates, key=step_of)
    logger.info("no pointer in %s, taking %s", cfg.dir, newest.name)
    return newest
