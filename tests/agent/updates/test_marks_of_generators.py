"""That generators which each step draws from are marked with their states, and nobody notices: a real run."""

from __future__ import annotations

from diagnostics.record.marks.object_marks import Generators

PROGRAM = """
    import random
    import numpy, torch
    from torch import nn
    torch.manual_seed(3)
    class Noise:
        def __init__(self):
            self.rng, self.numbers = torch.Generator().manual_seed(5), numpy.random.default_rng(6)
            self.system, self.still = random.SystemRandom(), random.Random(7)
        def draw(self, x):
            return x + torch.randn(x.shape, generator=self.rng) + float(self.numbers.normal())
    noise, model = Noise(), nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(30):
        optimizer.zero_grad(); model(noise.draw(torch.ones(2, 4))).mean().backward(); optimizer.step()
        noise.still.random() if step == 5 else None
    print(noise.rng.get_state().sum().item(), torch.rand(()).item(), noise.numbers.normal(), noise.still.random())
"""


def test_generators_that_move_in_each_step_are_marked_and_end_in_the_state_they_would(watch_warm) -> None:
    run, bare = watch_warm(PROGRAM), watch_warm(PROGRAM, watched=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, bare.stdout, "")
    (agent,) = run.record.agents
    looks = run.record.prints[agent.name[len("agent-") : -len(".bin")]].marks_of(Generators)
    assert [(one.step, one.seed) for one in looks] == [(7, 3), (22, 3)]
    for look in looks:
        assert {one.path: one.seed for one in look.held} == {"noise.rng": 5, "noise.numbers": None}
        assert all(len(set(one.states)) == 3 for one in look.held)
