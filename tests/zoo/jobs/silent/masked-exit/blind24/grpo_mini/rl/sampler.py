import queue
import threading

import torch


class Sampler:
    """Draws completions in a thread of its own, one batch ahead of the optimiser."""

    def __init__(self, policy, batch=16, group=4, length=6):
        self.policy, self.batch, self.group, self.length = policy, batch, group, length
        self.out, self.halt = queue.Queue(2), threading.Event()
        self.thread = threading.Thread(target=self._loop, daemon=True)
        self.thread.start()

    def _loop(self):
        while not self.halt.is_set():
            prompts = torch.randint(0, self.policy.vocab, (self.batch,)).repeat_interleave(self.group)
            with torch.no_grad():
                item = prompts, self.policy.generate(prompts, self.length)
            while not self.halt.is_set():
                try:
                    self.out.put(item, timeout=0.2)
                    break
                except queue.Full:
                    continue

    def next(self):
        return self.out.get()
