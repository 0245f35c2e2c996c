"""One configuration on one rank, and shared by several in every way: the same model comes out, whatever happens."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from modes_rank import ALONE, trained
from small_run import launch, ups, write_config, write_data

from ups.config import DataConfig, StageConfig, StagesConfig, TrainingConfig, UpsConfig, load_config
from ups.errors import ConfigError
from ups.stages import autoencoder
from ups.step.accumulate import cut, pieces_of
from ups.step.compiled import Compilations
from ups.step.micro_batch import USED_SHARE, activation_bytes, pieces_for
from ups.step.precision import FIRST_SCALE, STEPS_TO_GROWTH, Precision
from ups.strategies.admitted import refuse_what_does_not_fit
from ups.strategies.choice import strategy_of

PROGRAM = Path(__file__).with_name("modes_rank.py")
STAGES = ("autoencoder", "operator")
FSDP2: dict[str, Any] = {"strategy": "fsdp2"}
SHORT: dict[str, Any] = {**FSDP2, "stages": ["operator"]}
HSDP: dict[str, Any] = {"strategy": "hsdp", "shard_ranks": 2}
# How far the validation error of a mode may be from that of one rank, relatively.
EXACT, LOW = 1e-5, 5e-3
MODES: dict[str, tuple[dict[str, Any], float]] = {
    "ddp": ({}, EXACT),
    "ddp, bfloat16, micro-batches": ({"precision": "bf16", "micro_batch": 3}, LOW),
    "ddp, float16": ({"precision": "fp16"}, LOW),
    "fsdp2, micro-batches": ({**FSDP2, "micro_batch": 3}, EXACT),
    "fsdp2, all kept or again": (
        {**FSDP2, "reshard_after_forward": False, "activation_checkpointing": True, "micro_batch": "auto"},
        EXACT,
    ),
    "fsdp2, bfloat16": ({**FSDP2, "precision": "bf16"}, LOW),
    "fsdp2, then ddp in smaller pieces": ({**FSDP2, "then": {"micro_batch": 3}}, EXACT),
    "ddp, then fsdp2, float16": ({"precision": "fp16", "then": {**FSDP2, "precision": "fp16"}}, LOW),
}


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("modes")
    write_data(folder)
    stage = {"epochs": 2, "batch_size": 13, "lr": 0.01}  # the last batch of an epoch is ragged
    return write_config(folder, stages={"autoencoder": dict(stage), "operator": dict(stage)})


@pytest.fixture(scope="module")
def of_one_rank(config: Path) -> dict[str, float]:
    return trained(load_config(config), ALONE, {"strategy": "none"})


def run(config: Path, modes: dict[str, dict[str, Any]], nproc: int = 2) -> dict[str, Any]:
    """Returns what each mode came to on so many ranks."""
    file = config.with_name("found.json")
    ended = launch(PROGRAM, file, config, json.dumps(modes), nproc=nproc)
    assert {one.exit_code for one in ended.ended} == {0}, ended
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def compare(found: dict[str, Any], of_one_rank: dict[str, float], modes: dict[str, tuple[Any, float]]) -> None:
    for name, (mode, tolerance) in modes.items():
        for stage in mode.get("stages", STAGES):
            assert found[name][stage] == pytest.approx(of_one_rank[stage], rel=tolerance), (name, stage)
            assert found[name][f"{stage} alike"], (name, stage)


def test_two_ranks_train_in_every_mode_what_one_rank_does(config: Path, of_one_rank: dict[str, float]) -> None:
    found = run(config, {name: mode for name, (mode, _) in MODES.items()})
    compare(found, of_one_rank, MODES)
    assert found["fsdp2, bfloat16"]["autoencoder"] != found["ddp"]["autoencoder"]  # it did compute otherwise
    assert found["fsdp2, micro-batches"]["operator steps, pieces, skips"][1:] == [3, 0]
    assert found["fsdp2, then ddp in smaller pieces"]["operator steps, pieces, skips"][1:] == [3, 0]
    assert found["fsdp2, all kept or again"]["operator steps, pieces, skips"][1:] == [1, 0]


def test_four_ranks_with_two_copies_of_two_shards_train_it_too(config: Path, of_one_rank: dict[str, float]) -> None:
    modes: dict[str, tuple[dict[str, Any], float]] = {
        "hsdp": (HSDP, EXACT),
        "hsdp, bfloat16": ({**HSDP, "precision": "bf16", "micro_batch": 2}, LOW),
    }
    compare(run(config, {name: mode for name, (mode, _) in modes.items()}, nproc=4), of_one_rank, modes)


def test_a_sharded_rank_that_fails_takes_nobody_with_it(config: Path, of_one_rank: dict[str, float]) -> None:
    again = ("memory phase=forward", "memory phase=backward rank=1")
    left_out = ("nan phase=forward rank=1", "batch phase=loader")
    modes = {
        drill: {**SHORT, "max_skips": 2, "drill": f"{drill} step=1 stage=operator"}
        for drill in (*again, "memory phase=loader", *left_out)
    }
    modes["memory phase=optimizer"] = {**SHORT, "drill": "memory phase=optimizer rank=1 step=1 stage=operator"}
    found = run(config, modes)
    counts = {name: found[name].get("operator steps, pieces, skips") for name in modes}
    assert counts == {
        **{name: [4, 2, 0] for name in again},
        "memory phase=loader": [4, 1, 0],
        **{name: [4, 1, 1] for name in left_out},
        "memory phase=optimizer": None,
    }
    compare(found, of_one_rank, dict.fromkeys((*again, "memory phase=loader"), (SHORT, EXACT)))
    assert all(found[name]["operator alike"] for name in left_out)
    assert found["memory phase=optimizer"]["operator"] == (
        "rank 1 ran out of memory inside the optimizer's step (UPS_DRILL: optimizer) in stage operator at step 3 "
        "(epoch 0, batch 2): all ranks stop, and the last checkpoint is good"
    )


def config_of(**training: Any) -> UpsConfig:
    accumulate = training.pop("accumulate", 1)
    stages = StagesConfig(operator=StageConfig(accumulate=accumulate))
    return UpsConfig(data=DataConfig(task="advection1d"), stages=stages, training=TrainingConfig(**training))


@pytest.mark.parametrize(
    ("training", "ranks", "wanted"),
    [
        ({"strategy": "none"}, 2, "training.strategy=none trains on one rank, and there are 2"),
        ({"cpu_offload": True}, 2, "training.cpu_offload is for sharded models, and the strategy is ddp"),
        (
            {"reshard_after_forward": False},
            2,
            "training.reshard_after_forward=false is for sharded models, and the strategy is ddp",
        ),
        ({**FSDP2, "shard_ranks": 2}, 4, "training.shard_ranks is for hsdp: fsdp2 shards over all ranks"),
        ({**HSDP, "shard_ranks": 3}, 4, "training.shard_ranks 3 does not divide the 4 ranks"),
        (HSDP, 2, "hsdp with 2 ranks and shards over 2 of them is what fsdp2 does"),
        ({**HSDP, "shard_ranks": 1}, 2, "hsdp with 2 ranks and shards over 1 of them is what ddp does"),
        (
            {**FSDP2, "cpu_offload": True},
            2,
            "training.cpu_offload moves weights off a GPU, and the ranks compute on CPUs",
        ),
        (
            {**FSDP2, "compile": True},
            2,
            "training.compile=true with fsdp2 would break the graph at every block, where ranks exchange weights",
        ),
        (
            {"micro_batch": 4, "accumulate": 2},
            1,
            "training.micro_batch and stages.operator.accumulate both say how a batch is cut",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(training: dict[str, Any], ranks: int, wanted: str) -> None:
    with pytest.raises(ConfigError) as refused:
        refuse_what_does_not_fit(config_of(**training), ranks, gpus=False)
    assert refused.value.message == wanted
    assert refused.value.hint


@pytest.mark.parametrize(("training", "ranks"), [({}, 1), (FSDP2, 1), (FSDP2, 2), (HSDP, 4), ({"compile": True}, 1)])
def test_what_fits_is_not_refused(training: dict[str, Any], ranks: int) -> None:
    refuse_what_does_not_fit(config_of(**training), ranks, gpus=False)


def test_a_refusal_comes_before_anything_is_written(config: Path) -> None:
    refused = ups("train", config, "--no-preflight", "--nproc", "2", "--set", "training.strategy=none")
    assert (refused.returncode, refused.stderr.splitlines()) == (
        2,
        [
            "error: training.strategy=none trains on one rank, and there are 2",
            "  --nproc 1, or training.strategy=ddp",
        ],
    )
    assert not (config.parent / "run").exists()


def test_short_names_of_precisions_and_words_beside_numbers_are_read(config: Path) -> None:
    words = ["training.precision=bf16", "training.micro_batch=auto", "training.compile=blocks"]
    training = load_config(config, words).training
    assert (training.precision, training.micro_batch, training.compile) == ("bfloat16", "auto", "blocks")
    for wrong, said in (("micro_batch=many", "; or one of auto"), ("compile=all", "; or one of blocks")):
        with pytest.raises(Exception, match="must be") as refused:
            load_config(config, [f"training.{wrong}"])
        assert str(refused.value).endswith(said)


@pytest.mark.parametrize(("count", "ranks", "pieces"), [(8, 2, 3), (5, 2, 2), (5, 2, 9), (1, 2, 4), (13, 4, 3)])
def test_all_ranks_make_equally_many_micro_batches_of_every_sample(count: int, ranks: int, pieces: int) -> None:
    shares = [list(range(count))[rank::ranks] for rank in range(ranks)]
    world = dataclasses.replace(ALONE, size=ranks)
    wanted, seen = pieces_of(pieces, count, world), []
    for share in shares:
        batch = {"x": torch.tensor(share or [0]), "weight": torch.ones(len(share)) if share else torch.zeros(1)}
        parts = cut(batch, wanted, -(-count // ranks))
        assert len(parts) == wanted <= pieces
        seen += [int(x) for part in parts for x, weight in zip(part["x"], part["weight"], strict=True) if weight]
    assert sorted(seen) == list(range(count))


def test_a_rank_with_little_memory_takes_smaller_pieces(config: Path) -> None:
    plain = load_config(config)
    stage = autoencoder.Stage(plain, ALONE.device)
    training, settings = TrainingConfig(micro_batch="auto"), plain.stages.autoencoder
    strategy, precision = strategy_of(stage.build(), training, ALONE), Precision(training, ALONE.device)
    batch = {"u": torch.randn(1, 32, 1), "field": torch.zeros(1, dtype=torch.long), "weight": torch.ones(1)}
    two, four = (activation_bytes(strategy, precision, batch, count) for count in (2, 4))
    assert 1.5 * two < four < 2.5 * two
    found = [
        pieces_for(training, settings, strategy, precision, lambda: batch, free)
        for free in (1 << 40, int(4.5 / USED_SHARE * two / 2), 1)
    ]
    assert found == [1, 4, 13]  # of 13 samples: all, four and a half at once, one
    assert all(weight.grad is None for weight in strategy.weights)


def test_a_loss_scale_shrinks_at_once_and_grows_slowly_and_other_precisions_have_none() -> None:
    half = Precision(TrainingConfig(precision="float16"), torch.device("cpu"))
    assert (half.overflowed(), half.scale) == (True, FIRST_SCALE / 2)
    for _ in range(STEPS_TO_GROWTH):
        half.stepped()
    assert half.scale == FIRST_SCALE
    while half.overflowed():
        pass
    assert half.scale == 1.0
    single = Precision(TrainingConfig(), torch.device("cpu"))
    single.stepped()
    assert (single.overflowed(), single.state()) == (False, [1.0, 0.0])


def test_graphs_that_are_compiled_again_are_counted() -> None:
    counted, double = Compilations(compiles=True), torch.compile(lambda x: 2 * x, backend="eager")
    found = []
    for size in (3, 3, 5, 7):  # the second size makes it compile for any
        double(torch.ones(size))
        found.append(counted.new())
    assert (found, counted.again) == ([0, 0, 1, 0], 1)
    assert Compilations(compiles=False).new() == 0
