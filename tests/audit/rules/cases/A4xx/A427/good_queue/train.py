import copy
import queue
import threading

import torch


def snapshot(state):
    return {name: value.detach().clone() if torch.is_tensor(value) else value for name, value in state.items()}


class Writer:
    def __init__(self):
        self.jobs, self.losses = queue.Queue(), queue.Queue()
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while True:
            state, path = self.jobs.get()
            torch.save(state, path)

    def save(self, model, path):
        self.jobs.put((copy.deepcopy(model.state_dict()), path))
        self.jobs.put((snapshot(model.state_dict()), path))
        self.losses.put((copy.copy(model.state_dict()), path))

    def save_and_wait(self, model, path):
        self.jobs.put((copy.copy(model.state_dict()), path))
        self.jobs.join()


def train(model, batches):
    optimizer = torch.optim.Adam(model.parameters())
    writer = Writer()
    for step, batch in enumerate(batches):
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
        if step % 100 == 0:
            writer.save(model, f"{step}.pt")
            writer.save_and_wait(model, f"{step}.pt")
