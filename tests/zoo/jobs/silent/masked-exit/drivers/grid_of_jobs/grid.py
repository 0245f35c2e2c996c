import itertools
import queue
import subprocess
import sys
import threading


class Pool:
    def __init__(self, workers):
        self.todo = queue.Queue()
        self.finished = queue.Queue()
        self.threads = [threading.Thread(target=self.work) for _ in range(workers)]

    def work(self):
        while True:
            job = self.todo.get()
            if job is None:
                return
            code = subprocess.call([sys.executable, "toy.py", *map(str, job)], stderr=subprocess.DEVNULL)
            self.finished.put((job, code))

    def run(self, jobs):
        for job in jobs:
            self.todo.put(job)
        for thread in self.threads:
            self.todo.put(None)
            thread.start()
        for thread in self.threads:
            thread.join()
        while not self.finished.empty():
            job, code = self.finished.get()
            mark = "done" if code == 0 else "ended early"
            print(f"{job}: {mark} ({code})")


if __name__ == "__main__":
    Pool(1).run(itertools.product([1e6], [0.0, 0.9]))
    print("grid finished")
