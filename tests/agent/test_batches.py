"""What a process reads from its loaders, as the agent prints it, and that nobody in the job notices."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.record.batch_data import BatchSource, SourceKind

PROGRAM = """
import gc, hashlib, random, weakref
import numpy, torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, Dataset, DistributedSampler, TensorDataset

class Songs(Dataset):
    def __len__(self):
        return 24
    def __getitem__(self, index):
        return {"bands": torch.full((3, 2), float(index)) + torch.arange(2), "kind": index % 3, "name": f"song {index}"}

class Functions(TorchFunctionMode):
    seen = []
    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.seen.append(getattr(function, '__name__', '') or str(function))
        return function(*args, **(kwargs or {}))

class Operations(TorchDispatchMode):
    seen = []
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen.append(getattr(function, '__name__', '') or str(function))
        return function(*args, **(kwargs or {}))

torch.manual_seed(3); random.seed(3); numpy.random.seed(3)
songs = Songs()
sampler = DistributedSampler(songs, num_replicas=2, rank=1)
loader = DataLoader(songs, batch_size=4, sampler=sampler)
tests = DataLoader(TensorDataset(torch.zeros(6, 2)), batch_size=6)
model = nn.Linear(2, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
alive = []
with Functions(), Operations():
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for batch in loader:
            alive.append(weakref.ref(batch["bands"]))
            loss = nn.functional.cross_entropy(model(batch["bands"].mean(1)), batch["kind"])
            optimizer.zero_grad(); loss.backward(); optimizer.step()
            print(batch["bands"].sum().item(), batch["name"])
        model.eval()
        with torch.no_grad():
            for (x,) in tests:
                model(x)
        model.train()
x.resize_(9, 9)  # memory that somebody else looks at could not be
del batch, x
gc.collect()
print([one() for one in alive], loss.item())
for state in (random.getstate(), numpy.random.get_state(), torch.get_rng_state().tolist()):
    print(hashlib.sha256(repr(state).encode()).hexdigest())
# Whether an optimizer has gradients is looked at once, by what counts its steps.
print([name for name in Functions.seen if name != '__get__'], Operations.seen)
"""


@pytest.fixture(scope="module")
def runs(watcher, tmp_path_factory):
    """The program, watched and bare."""
    folders = [tmp_path_factory.mktemp(name) for name in ("watched", "bare")]
    return tuple(watcher(folder, warm=True)(PROGRAM, watched=at == 0) for at, folder in enumerate(folders))


def sources(run) -> dict[str, BatchSource]:
    (agent,) = (agent for agent in run.record.agents if agent.sources)
    assert run.record.unreadable == ()
    return {source.facts["dataset"]: source for source in agent.sources}


def test_neither_results_random_numbers_nor_modes_of_torch_notice(runs):
    watched, bare = runs
    assert (watched.returncode, watched.stderr) == (0, "")
    assert watched.stdout == bare.stdout


def test_loader_and_sampler_are_told_with_their_lines_and_whether_there_was_a_group(runs):
    source = sources(runs[0])["Songs"]
    assert (Path(source.built[0].file).name, source.sampler[0].line + 1) == ("main.py", source.built[0].line)
    assert "loader = DataLoader(songs" in PROGRAM.splitlines()[source.built[0].line - 1]
    assert source.kind is SourceKind.LOADER
    assert source.facts == {
        "dataset": "Songs", "kind": "map", "length": "24", "batch_size": "4", "batches": "3", "workers": "0",
        "drop_last": "0", "sampler": "DistributedSampler", "batch_sampler": "BatchSampler", "shuffle": "1",
        "sampler_rank": "1", "num_replicas": "2", "seed": "0", "group_at_loader": "0", "group_at_sampler": "0",
        "getitem": f"{runs[0].script}:12", "stages": "0",
    }  # fmt: skip


def test_each_batch_of_two_epochs_is_printed_with_the_indices_and_what_the_model_got(runs):
    first, second, third = sources(runs[0])["Songs"].passes
    assert [(one.batches, one.printed, one.steps, one.trained, one.ended) for one in (first, second, third)] == [
        (3, 3, 3, 3, True), (3, 3, 3, 3, True), (3, 1, 3, 3, True),
    ]  # fmt: skip
    assert [(one.epoch, one.own_epoch_calls, one.other_epoch_calls) for one in (first, second)] == [
        (0, 1, 0),
        (1, 2, 0),
    ]
    assert [(batch.rows, batch.given, batch.trained, batch.unread) for batch in first.log] == [(4, 4, True, False)] * 3
    prints = {}
    for one in (first, second):
        for batch in one.log:
            for index, value in zip(batch.indices, batch.samples, strict=True):
                assert prints.setdefault(index, value) == value  # of one sample, wherever it stands
    assert len(set(prints.values())) == len(prints) >= 12
    assert first.order != second.order


def test_what_is_constant_and_not_trained_on_says_so(runs):
    one, *_ = sources(runs[0])["TensorDataset"].passes
    assert (one.steps, one.trained, [batch.constant for batch in one.log]) == (0, 0, [True])
    assert [batch.evaluated for batch in one.log] == [True]


WITHOUT_LOADER = """
import torch, torch.distributed as dist
from torch import nn
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
songs = torch.randn(12, 4)
model, loss_of = nn.Linear(4, 1), nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for chosen in torch.arange(12).split(4):
        loss_of(model(songs[chosen]), torch.zeros(4, 1)).backward()
        optimizer.step()
traced = torch.jit.trace(model, songs)
print(traced.graph)
exported = torch.export.export(model, (songs,), dynamic_shapes=({0: torch.export.Dim("rows")},))
print(exported.graph)
for batch in torch.utils.data.DataLoader(songs, 4):
    print(torch.jit.trace(model, batch).graph)
dist.destroy_process_group()
"""


def test_without_a_loader_the_inputs_of_the_model_are_printed_and_what_is_traced_is_not(watch, watch_warm):
    run, bare = watch(WITHOUT_LOADER), watch_warm(WITHOUT_LOADER, watched=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, bare.stdout, bare.stderr)
    (agent,) = (agent for agent in run.record.agents if agent.sources)
    source, _ = agent.sources
    assert (source.kind, source.built[0].line) == (SourceKind.INPUT, 10)
    (one,) = source.passes
    wholes = [batch.whole for batch in one.log]
    assert (len(wholes), len(set(wholes)), wholes[:3] == wholes[3:]) == (6, 3, True)


FOLDS = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
songs = TensorDataset(torch.randn(12, 4))
kept = []
for epochs in (3, 1):
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept.append(optimizer)
    loader = DataLoader(songs, 4)
    for _ in range(epochs):
        for (x,) in loader:
            model(x).sum().backward()
            optimizer.step()
"""


def test_the_steps_of_a_pass_are_those_of_the_optimizer_that_made_them(watch_warm):
    agents = watch_warm(FOLDS).record.agents
    passes = [one for agent in agents for source in agent.sources for one in source.passes]
    assert [(one.steps, one.optimizer) for one in passes] == [(3, 1), (3, 1), (3, 1), (3, 2)]
