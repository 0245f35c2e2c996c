import threading


class Cache:
    def __init__(self):
        self.lock = threading.Lock()
        self.items = {}
        self.thread = threading.Thread(target=self.refresh, daemon=True)
        self.thread.start()

    def refresh(self):
        while True:
            with self.lock:
                self.items = {k: v for k, v in self.items.items() if v}

    def get(self, key):
        with self.lock:
            return self.items.get(key)
