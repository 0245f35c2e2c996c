from average import Lookahead


def main(model, loader, optimizer, epochs):
    """No way back is meant: the slow weights become the model's."""
    slow = Lookahead(model)
    for epoch in range(epochs):
        for x in loader:
            model(x).mean().backward()
            optimizer.step()
            slow.step(model.parameters())
        slow.copy_to(model.parameters())
