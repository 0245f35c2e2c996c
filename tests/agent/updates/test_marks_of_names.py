"""That tables which number names are marked with what they hold, and other tables and lists are not: a real run."""

from __future__ import annotations

from diagnostics.record.marks.object_marks import NumberedNames

PROGRAM = """
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset
    class Codec:
        def __init__(self, names):
            self.number = {name: place for place, name in enumerate(names)}
    class Rows(Dataset):
        classes = ["c", "a", "b"]
        def __init__(self): self.codec = Codec(["dog", "cat", "eel"])
        def __len__(self): return 8
        def __getitem__(self, i): return torch.ones(4) * self.codec.number["cat"]
    class Trainer:
        def __init__(self):
            self.model, self.loader = nn.Linear(4, 1), DataLoader(Rows(), batch_size=2)
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        def run(self):
            sizes, twice, ages = {"a": 3, "b": 7}, ["x", "x"], {"a": 0, "b": 0}
            for x in self.loader:
                self.optimizer.zero_grad(); self.model(x).mean().backward(); self.optimizer.step()
    Trainer().run()
"""


def test_tables_that_number_names_are_marked_wherever_they_lie_and_others_are_not(watch_warm) -> None:
    run = watch_warm(PROGRAM)
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    marks = run.record.prints[agent.name[len("agent-") : -len(".bin")]].marks_of(NumberedNames)
    assert {one.path: one.first for one in marks} == {
        "self.loader.dataset.codec.number": (("cat", 1), ("dog", 0), ("eel", 2)),
        "Rows.classes": (("a", 1), ("b", 2), ("c", 0)),
    }
