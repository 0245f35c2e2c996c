import queue
import threading

END = object()


class Prefetch:
    def __init__(self, source, depth=4):
        self.source = source
        self.buffer = queue.Queue(maxsize=depth)
        self.thread = threading.Thread(target=self.fill, name="prefetch", daemon=True)
        self.thread.start()

    def fill(self):
        for item in self.source:
            self.buffer.put(item)
        self.buffer.put(END)

    def __iter__(self):
        while True:
            item = self.buffer.get()
            if item is END:
                return
            yield item
