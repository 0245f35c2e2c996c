import atexit
import queue
import threading


class SampleAuditor:
    """Writes a human-readable trace of sampled sequences beside the training."""

    def __init__(self, path, min_len):
        self.path = path
        self.min_len = min_len
        self.inbox = queue.Queue()
        self.seen = 0
        threading.Thread(target=self._work, daemon=True, name="auditor").start()
        atexit.register(self.flush)

    def submit(self, step, seq):
        self.inbox.put((step, seq))

    def _work(self):
        with open(self.path, "a") as out:
            while True:
                step, seq = self.inbox.get()
                seq = seq.rstrip("-")
                if len(seq) < self.min_len:
                    continue
                out.write(f"{step}\t{len(seq)}\t{seq}\n")
                out.flush()
                self.seen += 1
                self.inbox.task_done()

    def flush(self):
        self.inbox.join()
