"""Local variables of the frames an exception came through: only where the user asked, short, without secrets."""

from __future__ import annotations

from ..frames import is_library
from ..shared.redaction import hide, is_secret
from ..shared.trigger_words import HIDDEN

MAX_FRAMES, MAX_VALUES, MAX_VALUE, MAX_ITEMS = 3, 20, 80, 4
PLAIN = (int, float, bool, complex, type(None))


class Locals:
    """Writes one `locals` event for each of the innermost frames of the job: "name=value" joined by "; "."""

    def __init__(self, agent):
        self._agent = agent

    def tell(self, traceback):
        """Records the frames of one traceback, innermost first; it calls no code of the job."""
        frames = []
        while traceback is not None:
            if not is_library(traceback.tb_frame.f_code.co_filename):
                frames.append(traceback)
            traceback = traceback.tb_next
        for entry in frames[-MAX_FRAMES:][::-1]:
            values = list(entry.tb_frame.f_locals.items())[:MAX_VALUES]
            shown = "; ".join("%s=%s" % (name, _shown(name, value)) for name, value in values if name[:2] != "__")
            code = entry.tb_frame.f_code
            where = "%s:%d %s" % (code.co_filename.rpartition("/")[2], entry.tb_lineno, code.co_name)
            self._agent.event("locals", "%s | %s" % (where, shown))


def _shown(name, value):
    text = _brief(value)
    return HIDDEN if is_secret(name, text) else hide(text)[:MAX_VALUE]


def _brief(value, deeper=True):
    """Returns a short text that needs no code of the job and no transfer from a device."""
    kind = type(value)
    if kind in PLAIN:
        return repr(value)[:MAX_VALUE]
    if kind is str or kind is bytes:
        return repr(value[: 2 * MAX_VALUE])
    if kind.__module__.partition(".")[0] in ("torch", "numpy") and hasattr(kind, "shape"):
        return "%s(%s, %s)" % (kind.__name__, "x".join(map(str, value.shape)), value.dtype)
    if kind in (list, tuple, set) and deeper:
        items = ", ".join(_brief(item, deeper=False) for item in list(value)[:MAX_ITEMS])
        return "%s of %d: %s" % (kind.__name__, len(value), items)
    if kind is dict and deeper:
        items = list(value.items())[:MAX_ITEMS]
        pairs = ("%s: %s" % (key, _shown(key, item)) if type(key) is str else "..." for key, item in items)
        return "dict of %d: %s" % (len(value), ", ".join(pairs))
    return "<%s>" % kind.__qualname__
