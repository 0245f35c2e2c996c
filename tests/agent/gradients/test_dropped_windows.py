"""Passes that are cleared before there are enough of them for a step: marked where each epoch ends so, else not."""

from __future__ import annotations

import pytest

from diagnostics.record.marks.loss_marks import DroppedWindows

HEAD = """
    import torch
    torch.set_num_threads(1)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0, growth_interval=10**6)
    batches = [torch.randn(8, 4) for _ in range(11)]
    def loss_of(x, factor=1.0): return model(x).pow(2).mean() * factor
"""
FAULTY = {
    "cleared when an epoch begins": """
        for epoch in range(8):
            optimizer.zero_grad()
            for i, x in enumerate(batches):
                loss_of(x).backward()
                if (i + 1) % 4 == 0:
                    optimizer.step()
                    optimizer.zero_grad()
    """,
    "filled with zeros when it ends": """
        for epoch in range(8):
            for i, x in enumerate(batches):
                loss_of(x).backward()
                if (i + 1) % 4 == 0:
                    optimizer.step(); optimizer.zero_grad(set_to_none=False)
            model.zero_grad(set_to_none=False)
    """,
    "each window begins with a clearing": """
        for epoch in range(8):
            for i, x in enumerate(batches):
                if i % 4 == 0:
                    optimizer.zero_grad()
                loss_of(x).backward()
                if i % 4 == 3:
                    optimizer.step()
    """,
}
HEALTHY = {
    "the last window makes a step, too": """
        for epoch in range(8):
            optimizer.zero_grad()
            for i, x in enumerate(batches):
                loss_of(x).backward()
                if (i + 1) % 4 == 0 or i + 1 == len(batches):
                    optimizer.step(); optimizer.zero_grad()
    """,
    "what is left waits for the next epoch": """
        step = 0
        for epoch in range(8):
            for x in batches:
                loss_of(x).backward(); step += 1
                if step % 4 == 0:
                    optimizer.step(); optimizer.zero_grad()
    """,
    "full windows": """
        for epoch in range(8):
            for i, x in enumerate(batches[:8]):
                loss_of(x).backward()
                if (i + 1) % 4 == 0:
                    optimizer.step(); optimizer.zero_grad()
    """,
    "losses that are not finite are left out": """
        for i in range(120):
            loss = loss_of(batches[i % 11], float("nan") if i in (5, 6, 30, 71) else 1.0)
            if not loss.isfinite():
                optimizer.zero_grad(); continue
            loss.backward()
            if (i + 1) % 4 == 0:
                optimizer.step(); optimizer.zero_grad()
    """,
    "a scaler skips steps": """
        for i in range(120):
            scaler.scale(loss_of(batches[i % 11], float("inf") if i % 40 == 11 else 1.0)).backward()
            if (i + 1) % 4 == 0:
                scaler.step(optimizer); scaler.update(); optimizer.zero_grad()
    """,
    "a second pass from weights nearby": """
        for i in range(60):
            loss_of(batches[i % 11]).backward()
            with torch.no_grad():
                for one in model.parameters(): one.add_(one.grad, alpha=0.01)
            optimizer.zero_grad()
            loss_of(batches[i % 11]).backward()
            optimizer.step(); optimizer.zero_grad()
    """,
    "two optimizers": """
        other = torch.optim.SGD(model.parameters(), lr=1e-3)
        for epoch in range(8):
            optimizer.zero_grad()
            for i, x in enumerate(batches):
                loss_of(x).backward()
                if (i + 1) % 4 == 0:
                    optimizer.step(); other.step(); optimizer.zero_grad()
    """,
}


@pytest.fixture
def watch(watch_warm):
    """What these programs do is asked, not how they start."""
    return watch_warm


def _marks(watch, source: str) -> list[DroppedWindows]:
    run = watch(HEAD + source.replace("\n    ", "\n"))
    assert (run.returncode, run.stderr) == (0, "")
    (agent,) = run.record.agents
    assert [event.text for event in agent.events if event.kind in ("no-prints", "no-marks")] == []
    prints = run.record.prints[agent.name[len("agent-") : -len(".bin")]]
    return list(prints.marks_of(DroppedWindows))


@pytest.mark.parametrize("source", FAULTY.values(), ids=FAULTY)
def test_a_last_window_that_no_step_takes_is_marked(watch, source: str) -> None:
    marks = _marks(watch, source)
    assert [(one.drops, one.lost, one.every, one.size) for one in marks] == [(3, 3, 11, 4), (6, 3, 11, 4)]
    assert all(one.path and one.backward for one in marks)


@pytest.mark.parametrize("source", HEALTHY.values(), ids=HEALTHY)
def test_windows_that_are_used_leave_no_mark(watch, source: str) -> None:
    assert _marks(watch, source) == []
