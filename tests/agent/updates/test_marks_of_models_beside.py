"""That copies which are evaluated in a model's place, and weights that came apart, are marked: real runs."""

from __future__ import annotations

import pytest

from diagnostics.record.marks.model_marks import CopyIsStale, CopyLacksStatistics, WeightsUntied

MODELS = """
    import copy, torch
    from torch import nn
    torch.manual_seed(0)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inp, self.norm, self.out = nn.Linear(6, 16), nn.BatchNorm1d(16), nn.Linear(16, 6)
        def forward(self, x): return self.out(self.norm(self.inp(x)).relu())
    @torch.no_grad()
    def judged(net, training=False):
        net.train(training)
        for _ in range(3): net(torch.randn(5, 6))
        net.train()
    def learn(net, steps=6, each=lambda: None):
        for _ in range(steps):
            optimizer.zero_grad(); net(torch.randn(8, 6)).pow(2).mean().backward(); optimizer.step(); each()
    def follow(kept, source, buffers=True):
        with torch.no_grad():
            for mine, theirs in zip(kept.parameters(), source): mine.lerp_(theirs, 0.1)
            for mine, theirs in zip(kept.buffers(), net.buffers()): mine.copy_(theirs) if buffers else None
    net = Net()
    kept = copy.deepcopy(net)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
"""
STALE = {
    "a copy of before": "for _ in range(5): learn(net); judged(kept)",
    "fed from what it was": "first = [p.detach().clone() for p in net.parameters()]\n"
    "for _ in range(5): learn(net, each=lambda: follow(kept, first)); judged(kept)",
    "looked at before the first step": "judged(kept)\nfor _ in range(5): learn(net); judged(kept)",
}
FOLLOWING = {
    "an average": "for _ in range(5): learn(net, each=lambda: follow(kept, net.parameters())); judged(kept)",
    "an average that begins late": "for _ in range(5): learn(net); judged(kept)\n"
    "learn(net, each=lambda: follow(kept, net.parameters())); judged(kept)",
    "a measure beside the model": "for _ in range(5): learn(net); judged(kept); judged(net)",
    "the model is evaluated in the end": "for _ in range(5): learn(net); judged(kept)\njudged(net)",
    "a teacher": "for _ in range(5): learn(net, each=lambda: judged(kept))",
    "another model": "kept = Net()\nfor _ in range(5): learn(net); judged(kept)",
    "a model of another shape": "kept = nn.Sequential(nn.Linear(6, 5))\nfor _ in range(5): learn(net); judged(kept)",
    "copied anew": "for _ in range(5): learn(net); judged(copy.deepcopy(net))",
    "loaded anew": "for _ in range(5): learn(net); kept.load_state_dict(net.state_dict()); judged(kept)",
    "twice": "for _ in range(2): learn(net); judged(kept)",
    "a model that never learns": "optimizer = torch.optim.SGD(net.parameters(), 0.0)\n"
    "for _ in range(5): learn(net); judged(kept)",
}
UNFILLED = {
    "parameters alone": "last = lambda: follow(kept, net.parameters(), False)\n"
    "for _ in range(4): learn(net, each=last); judged(kept)",
    "kept in an average": "kept = torch.optim.swa_utils.AveragedModel(net)\n"
    "for _ in range(4): learn(net, each=lambda: follow(kept.module, net.parameters(), False)); judged(kept)",
}
FILLED = {
    "torch's own average": "kept = torch.optim.swa_utils.AveragedModel(net)\n"
    "for _ in range(4): learn(net); kept.update_parameters(net); judged(kept)",
    "buffers too": "for _ in range(4): learn(net, each=lambda: follow(kept, net.parameters())); judged(kept)",
    "torch's own with buffers": "kept = torch.optim.swa_utils.AveragedModel(net, use_buffers=True)\n"
    "for _ in range(4): learn(net); kept.update_parameters(net); judged(kept)",
    "statistics made anew": "kept = torch.optim.swa_utils.AveragedModel(net); rows = [torch.randn(8, 6)] * 3\n"
    "update = torch.optim.swa_utils.update_bn\n"
    "for _ in range(4): learn(net); kept.update_parameters(net); update(rows, kept); judged(kept)",
    "statistics of the batch": "for _ in range(4): learn(net, each=lambda: follow(kept, net.parameters(), False)); "
    "judged(kept, True)",
    "a model that was frozen so": "net.norm.eval()\nnet.train = lambda mode=True: net\n"
    "for _ in range(4): learn(net, each=lambda: follow(kept, net.parameters(), False)); judged(kept)",
}
TIED = """
    import copy, torch
    from torch import nn
    torch.manual_seed(0)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.tok, self.head = nn.Embedding(12, 6), nn.Linear(6, 12, bias=False)
            self.tie()
        def tie(self): self.head.weight = self.tok.weight
        def forward(self, ids): return self.head(self.tok(ids))
    def drawn(net):
        for p in net.parameters(): nn.init.normal_(p)
        return net
    def on_meta():
        with torch.device("meta"): return Net()
    def learn(net, steps=5):
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for _ in range(steps):
            optimizer.zero_grad(); net(torch.randint(12, (3, 4))).pow(2).mean().backward(); optimizer.step()
    state = {name: one.clone() for name, one in Net().state_dict().items()}
"""
APART = {
    "emptied": "net = drawn(on_meta().to_empty(device='cpu')); learn(net)",
    "assigned": "net = on_meta(); net.load_state_dict(state, assign=True); learn(net)",
}
TOGETHER = {
    "tied": "net = Net(); learn(net)",
    "moved": "net = Net().double().float(); learn(net)",
    "loaded": "net = Net(); net.load_state_dict(state); learn(net)",
    "tied again": "net = drawn(on_meta().to_empty(device='cpu')); net.tie(); learn(net)",
    "tied again after a load": "net = on_meta(); net.load_state_dict(state, assign=True); net.tie(); learn(net)",
    "untied by the program": "net = Net(); net.head.weight = nn.Parameter(net.tok.weight.detach().clone()); learn(net)",
    "one of them frozen": "net = drawn(on_meta().to_empty(device='cpu')); part = net.head; "
    "optimizer = torch.optim.SGD(part.parameters(), 0.1)\n"
    "for _ in range(5): net(torch.randint(12, (3, 4))).pow(2).mean().backward(); optimizer.step()",
    "a head of another size": "net = Net(); net.head = nn.Linear(6, 5); learn(net)",
}


def marks_of(kind: type, source: str, lines: str, watch_warm) -> list:
    run = watch_warm(source + "".join(f"    {line}\n" for line in lines.split("\n")))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert "no-marks" not in {event.kind for event in agent.events}
    return list(run.record.prints[agent.name[len("agent-") : -len(".bin")]].marks_of(kind))


@pytest.mark.parametrize("how", STALE)
def test_a_copy_that_keeps_the_first_weights_and_is_evaluated_is_marked(how: str, watch_warm) -> None:
    *_, mark = marks_of(CopyIsStale, MODELS, STALE[how], watch_warm)
    assert (mark.root, mark.rounds, mark.written) == ("Net", 3, "fed" in how)
    assert [one.function for one in mark.path] == ["judged", "<module>"]


@pytest.mark.parametrize("how", FOLLOWING)
def test_a_copy_that_follows_or_is_a_measure_is_not(how: str, watch_warm) -> None:
    assert marks_of(CopyIsStale, MODELS, FOLLOWING[how], watch_warm) == []


@pytest.mark.parametrize("how", UNFILLED)
def test_an_average_that_is_evaluated_without_statistics_is_marked(how: str, watch_warm) -> None:
    *_, mark = marks_of(CopyLacksStatistics, MODELS, UNFILLED[how], watch_warm)
    assert (mark.rounds, mark.parts, mark.part.removeprefix("module."), mark.batches > 0) == (2, 1, "norm", True)


@pytest.mark.parametrize("how", FILLED)
def test_an_average_with_statistics_is_not(how: str, watch_warm) -> None:
    assert marks_of(CopyLacksStatistics, MODELS, FILLED[how], watch_warm) == []


@pytest.mark.parametrize("how", APART)
def test_weights_that_were_tied_and_came_apart_are_marked(how: str, watch_warm) -> None:
    (mark,) = marks_of(WeightsUntied, TIED, APART[how], watch_warm)
    assert (mark.first, mark.second, mark.step) == ("tok.weight", "head.weight", 3)
    assert mark.path[0].function == "Net.tie"


@pytest.mark.parametrize("how", TOGETHER)
def test_weights_that_are_tied_or_were_taken_apart_by_the_program_are_not(how: str, watch_warm) -> None:
    assert marks_of(WeightsUntied, TIED, TOGETHER[how], watch_warm) == []
