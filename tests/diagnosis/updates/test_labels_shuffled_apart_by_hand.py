"""Samples and labels with an order each are told; one order, one seed and sets that are no pairs are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, event

from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.updates import labels_shuffled_apart

APART = {
    "two permutations of a class": """
class Table:
    def shuffle(self, rng):
        self.x = self.x[rng.permutation(len(self.x))]
        self.y = self.y[rng.permutation(len(self.y))]
    def cut(self, k):
        return (self.x[:k], self.y[:k]), (self.x[k:], self.y[k:])
""",
    "in place": """
def load(rng):
    images, labels = read()
    rng.shuffle(images)
    rng.shuffle(labels)
    return list(zip(images, labels))
""",
    "by torch": """
features, targets = read()
features = features[torch.randperm(len(features))]
targets = targets[torch.randperm(len(targets))]
data = TensorDataset(features, targets)
""",
}
LINES = {"two permutations of a class": "train.py:5", "in place": "train.py:5", "by torch": "train.py:4"}
TOGETHER = {
    "one order": """
order = rng.permutation(len(x))
x = x[order]
y = y[order]
data = TensorDataset(x, y)
""",
    "one seed": """
def load(x, y):
    random.seed(1)
    random.shuffle(x)
    random.seed(1)
    random.shuffle(y)
    return list(zip(x, y))
""",
    "one state": """
def load(x, y):
    state = np.random.get_state()
    np.random.shuffle(x)
    np.random.set_state(state)
    np.random.shuffle(y)
    return list(zip(x, y))
""",
    "two domains that are no pairs": """
horses = horses[torch.randperm(len(horses))]
zebras = zebras[torch.randperm(len(zebras))]
data = list(zip(horses, zebras))
""",
    "labels for a test of chance": """
y = y[rng.permutation(len(y))]
data = TensorDataset(x, y)
""",
    "two shares of the rows": """
x = x[rng.permutation(len(x))]
z = y[rng.permutation(len(y))]
data = TensorDataset(x, targets)
""",
}


def _told(source: str, folder: Path, steps: int = 50) -> Match | None:
    told = agent(event("optimizer", "", f"{folder}/train.py:1"), steps=steps)
    return labels_shuffled_apart.match(a_job(a_process(agent=told), code=0, cwd=folder, files={"train.py": source}))


@pytest.mark.parametrize("how", APART)
def test_an_order_for_each_is_told_at_the_line_of_the_second(how: str, tmp_path: Path) -> None:
    found = _told(APART[how], tmp_path)
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations[0]) == ("wrong-loss", (0,), LINES[how])
    assert "are each shuffled into an order of their own" in found.finding.title
    assert _told(APART[how], tmp_path, steps=0) is None


@pytest.mark.parametrize("how", TOGETHER)
def test_one_order_one_seed_and_what_is_no_pair_are_left_alone(how: str, tmp_path: Path) -> None:
    assert _told(TOGETHER[how], tmp_path) is None
