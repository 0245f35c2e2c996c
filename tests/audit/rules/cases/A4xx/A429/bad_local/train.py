import torch


def main(model, batches, state):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    head = optimizer.param_groups[0]
    if state is not None:
        optimizer.load_state_dict(state["optimizer"])
    for now, batch in enumerate(batches):
        optimizer.zero_grad()
        model(batch).mean().backward()
        head["lr"] = 0.1 / (1 + now)
        optimizer.step()
