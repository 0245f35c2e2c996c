import logging
import queue
import threading

log = logging.getLogger("reader")


class Revived:
    """A background reader which is started anew behind a record it cannot parse."""

    def __init__(self, parse, records, depth=16, retries=50):
        self.parse, self.records, self.retries = parse, records, retries
        self.q = queue.Queue(depth)
        self.at = 0

    def _pump(self):
        try:
            while self.at < len(self.records):
                k, self.at = self.at, self.at + 1
                self.q.put(("item", self.parse(self.records[k])))
            self.q.put(("end", None))
        except Exception as e:
            self.q.put(("fault", e))

    def _start(self):
        self.t = threading.Thread(target=self._pump, daemon=True)
        self.t.start()

    def __iter__(self):
        self.at, faults = 0, 0
        self._start()
        while True:
            try:
                kind, val = self.q.get(timeout=0.02)
            except queue.Empty:
                continue
            if kind == "end":
                return
            if kind == "item":
                yield val
                continue
            faults += 1
            if faults > self.retries:
                raise val
            log.warning("record skipped: %s: %s", type(val).__name__, val)
            self._start()
