import torch


def chunked_distill(operator, teacher, student, state, dt, chunk):
    """Mean over chunks of the points of the distance between student and teacher; frees each teacher at once."""

    def distill_fn(part):
        with torch.no_grad():
            start = operator(part, dt)
            wanted = teacher(start, torch.tensor([0.5]))
        return start, wanted

    parts = [distill_fn(part) for part in state.split(chunk)]
    start = torch.cat([part for part, _ in parts])
    wanted = torch.cat([part for _, part in parts])
    return (student(start, torch.tensor([1.0])) - wanted).square().mean()
