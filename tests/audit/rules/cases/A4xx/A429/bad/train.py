import torch


class Schedule:
    def __init__(self, groups, total):
        self.groups, self.total = groups, total

    def step(self, now):
        for group in self.groups:
            group["lr"] = 0.1 * (1 - now / self.total)


def main(model, batches, path):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = Schedule(optimizer.param_groups, len(batches))
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    for now, batch in enumerate(batches):
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
        schedule.step(now)
