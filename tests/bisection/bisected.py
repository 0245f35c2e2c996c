"""What a bisection may have found, made by hand."""

from __future__ import annotations

from diagnostics.bisection.case import Configuration, RunSettings, Source
from diagnostics.bisection.found import Attempt, AxisRow, Bisection, Mark, SettingStatus, StrategyRow, TreeRow
from diagnostics.bisection.report.run_report import run_report_of
from diagnostics.bisection.trial import Failure, FailureKind, Trial
from diagnostics.report.run_report import RunReport

CASE = Configuration(
    source=Source(factory="model:make", inputs="model:batch"), settings=RunSettings(world=2, wrapper="ddp")
)
STACK = "Segmentation fault\n/home/ann/model.py:16 forward\n/venv/torch/nn/modules/module.py:1789 _call_impl"
FAILURE = Failure(
    kind=FailureKind.SIGNAL,
    detail="SIGSEGV",
    places=("model.py:16 forward",),
    phase="forward",
    step=1,
    module="blocks.1.attn",
    ranks=(0, 1),
    text=STACK,
)
TREE = (
    TreeRow(path="", class_name="Net", mark=Mark.FAILS, parameters=1200),
    TreeRow(path="inp", class_name="Linear", mark=Mark.PASSES, parameters=80),
    TreeRow(path="blocks", class_name="ModuleList", mark=Mark.FAILS, parameters=900),
    TreeRow(path="blocks.0", class_name="Block", mark=Mark.PASSES, parameters=300),
    TreeRow(path="blocks.0.attn", class_name="Attention", mark=Mark.PASSES, parameters=100),
    TreeRow(path="blocks.1", class_name="Block", mark=Mark.FAILS, parameters=300),
    TreeRow(path="blocks.1.attn", class_name="Attention", mark=Mark.CULPRIT, parameters=100, place="model.py:6"),
    TreeRow(path="blocks.2", class_name="Block", mark=Mark.NOT_TRIED, parameters=300),
    TreeRow(path="blocks.2.attn", class_name="Attention", mark=Mark.NOT_TRIED, parameters=100),
    TreeRow(path="blocks.3", class_name="Block", mark=Mark.NOT_TRIED, parameters=300),
    TreeRow(path="blocks.3.attn", class_name="Attention", mark=Mark.NOT_TRIED, parameters=100),
)
FOUND = Bisection(
    name="model.make",
    attempts=(Attempt(way="ddp, 2 ranks, gloo on cpu", trial=Trial(case=CASE, failure=FAILURE, failed=1)),),
    failing=CASE,
    failure=FAILURE,
    failed=1,
    runs=1,
    minimal=CASE.edit(alone="blocks.1.attn"),
    modules=("blocks.1.attn",),
    heals=True,
    fails_alone=True,
    module_class="Attention",
    module_place="model.py:6",
    axes=(
        AxisRow(axis="world size", value="2", other="1", standing=SettingStatus.NEEDED),
        AxisRow(axis="wrapper", value="ddp", other="none", standing=SettingStatus.NOT_NEEDED),
        AxisRow(axis="amp", value="off", other="bfloat16", standing=SettingStatus.NO_EFFECT),
        AxisRow(axis="threads", value="1", other="2", standing=SettingStatus.HEALS),
        AxisRow(axis="compile", value="off", other="on", standing=SettingStatus.NOT_TRIED),
    ),
    strategies=(
        StrategyRow(way="ddp", result="fails"),
        StrategyRow(way="fabric", result="cannot run", note="Lightning Fabric is not installed"),
    ),
    tree=TREE,
    evidence=("without blocks.1.attn it passes", "blocks.1.attn alone it fails in the same way"),
    folder="reports/one",
    repro="repro.py",
    repro_failed=3,
    repro_runs=3,
    repro_note="the module alone; needs torch only",
    tries=17,
    seconds=61.2,
    torch="2.13.0",
)
HEALTHY = Bisection(
    name="model.make",
    attempts=(
        Attempt(way="ddp, 2 ranks, gloo on cpu", trial=Trial(case=CASE)),
        Attempt(
            way="fabric, 2 ranks, gloo on cpu",
            trial=Trial(case=CASE.set(wrapper="fabric"), refusal="Lightning Fabric is not installed"),
        ),
    ),
    folder="reports/one",
    tries=2,
    seconds=8.0,
    torch="2.13.0",
)
COMMAND = "ups-doctor bisect-model model:make --inputs model:batch"


def reported(found: Bisection, seen: RunReport | None = None) -> RunReport:
    """Returns the report of a bisection, by default of one that no run was watched for."""
    return run_report_of(found, seen, command=COMMAND, started="2026-01-01T00:00:00+0000")
