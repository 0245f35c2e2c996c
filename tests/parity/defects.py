"""Planted defects of data-parallel training, each a `make()` for `ups-doctor parity tests/parity/defects.py:NAME`.

`DEFECTS` says what each must be called, and by which factor; the programs of `HEALTHY` compute what one process does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from torch import distributed as dist
from torch import nn

CLASSES, WIDTH, SAMPLES = 3, 6, 8
Made = dict[str, Any]


def world() -> int:
    """Returns the number of ranks, 1 in the process that is compared with."""
    return dist.get_world_size() if dist.is_initialized() else 1


def network(*between: nn.Module, width: int = WIDTH) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(width, 8), *between, nn.Tanh(), nn.Linear(8, CLASSES))


def batches(samples: int = SAMPLES, count: int = 3) -> list[Any]:
    made = torch.Generator().manual_seed(1)
    return [
        (torch.randn(samples, WIDTH, generator=made), torch.randint(0, CLASSES, (samples,), generator=made))
        for _ in range(count)
    ]


def loss(model: nn.Module, batch: Any) -> torch.Tensor:
    return nn.functional.cross_entropy(model(batch[0]), batch[1])


def made(**parts: Any) -> Made:
    return {"model": network(), "loss": loss, "batches": batches(), **parts}


def average(model: nn.Module, divide: float | None = None) -> None:
    """Averages gradients over the ranks by hand."""
    for one in model.parameters():
        dist.all_reduce(one.grad)
        one.grad /= divide or world()


def bare(model: nn.Module, rank: int, size: int) -> nn.Module:
    return model


def ddp(model: nn.Module, rank: int, size: int) -> nn.Module:
    return nn.parallel.DistributedDataParallel(model)


def by_hand(after: Callable[[nn.Module], None], **parts: Any) -> Made:
    """Returns a loop without a wrapper that does `after(model)` between backward and step."""

    def train_step(model: nn.Module, batch: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        loss(model, batch).backward()
        after(model)
        optimizer.step()

    return made(wrap=bare, train_step=train_step, **parts)


def accumulating(pieces: int, divide: float, *, zero_each: bool = False, quiet: range = range(0), **parts: Any) -> Made:
    """Returns a DDP loop over micro-batches; `quiet` are those whose backward pass does not synchronise."""

    def train_step(model: Any, batch: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        for number, (inputs, targets) in enumerate(zip(*(one.chunk(pieces) for one in batch), strict=True)):
            if zero_each:
                optimizer.zero_grad()
            model.require_backward_grad_sync = number not in quiet
            (loss(model, (inputs, targets)) / divide).backward()
        optimizer.step()

    return made(wrap=ddp, train_step=train_step, accumulate=pieces, **parts)


# ---------------------------------------------------------------------- healthy


def healthy() -> Made:
    return made()


def healthy_by_nine() -> Made:
    return made(batches=batches(samples=9))


def healthy_tuple() -> Any:
    return network(), nn.CrossEntropyLoss(), batches()


def healthy_by_hand() -> Made:
    return by_hand(average)


def healthy_dropout() -> Made:
    return made(model=network(nn.Dropout(0.3)))


def healthy_accumulating() -> Made:
    return accumulating(4, 4, quiet=range(3))


def healthy_clipped() -> Made:
    return made(clip=0.05)


def healthy_adamw() -> Made:
    return made(optimizer=lambda parameters: torch.optim.AdamW(parameters, lr=0.01))


def healthy_global_count() -> Made:
    def train_step(model: nn.Module, batch: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        count = (batch[1] != -100).sum()
        dist.all_reduce(count)
        summed = nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="sum")
        (summed * world() / count).backward()
        optimizer.step()

    return made(wrap=ddp, train_step=train_step, batches=ignoring())


# ---------------------------------------------------------------------- factors


def summed_over_ranks() -> Made:
    return by_hand(lambda model: average(model, divide=1))


def averaged_twice() -> Made:
    def train_step(model: nn.Module, batch: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        (loss(model, batch) / world()).backward()
        optimizer.step()

    return made(wrap=ddp, train_step=train_step)


def multiplied_by_ranks() -> Made:
    def train_step(model: nn.Module, batch: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        (loss(model, batch) * world()).backward()
        optimizer.step()

    return made(wrap=ddp, train_step=train_step)


def global_count_without_ranks() -> Made:
    def train_step(model: nn.Module, batch: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        summed = nn.functional.cross_entropy(model(batch[0]), batch[1], reduction="sum")
        (summed / (len(batch[1]) * world())).backward()  # DDP averages once more
        optimizer.step()

    return made(wrap=ddp, train_step=train_step)


def accumulation_not_divided() -> Made:
    return accumulating(4, 1, quiet=range(3))


def accumulation_divided_twice() -> Made:
    return accumulating(4, 16, quiet=range(3))


def summed_over_ranks_and_pieces() -> Made:
    def train_step(model: nn.Module, batch: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        for inputs, targets in zip(*(one.chunk(4) for one in batch), strict=True):
            loss(model, (inputs, targets)).backward()
        average(model, divide=1)
        optimizer.step()

    return made(wrap=bare, train_step=train_step, accumulate=4)


def one_layer_summed_twice() -> Made:
    def after(model: nn.Module) -> None:
        average(model)
        dist.all_reduce(model[2].weight.grad)  # type: ignore[index]

    return by_hand(after)


# ---------------------------------------------------------------------- synchronisation


def never_wrapped() -> Made:
    return by_hand(lambda _: None)


def inner_module_called() -> Made:
    def train_step(model: Any, batch: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        loss(model.module, batch).backward()
        optimizer.step()

    return made(wrap=ddp, train_step=train_step)


def no_sync_left_on() -> Made:
    def train_step(model: Any, batch: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        with model.no_sync():
            loss(model, batch).backward()
        optimizer.step()

    return made(wrap=ddp, train_step=train_step)


def one_layer_forgotten() -> Made:
    return by_hand(lambda model: average(model[0]))  # type: ignore[index]


def unfrozen_after_wrapping() -> Made:
    def wrap(model: Any, rank: int, size: int) -> nn.Module:
        model[2].weight.requires_grad_(False)
        wrapped = ddp(model, rank, size)
        model[2].weight.requires_grad_(True)
        return wrapped

    return made(wrap=wrap)


def last_piece_not_synchronised() -> Made:
    return accumulating(2, 2, quiet=range(1, 2))


def pieces_set_to_zero() -> Made:
    return accumulating(4, 4, zero_each=True)


def never_set_to_zero() -> Made:
    def train_step(model: nn.Module, batch: Any, optimizer: Any) -> None:
        loss(model, batch).backward()
        optimizer.step()

    return made(wrap=ddp, train_step=train_step)


def different_start() -> Made:
    def wrap(model: Any, rank: int, size: int) -> nn.Module:
        torch.manual_seed(rank)
        for layer in (model[0], model[2]):
            layer.reset_parameters()
        return nn.parallel.DistributedDataParallel(model, init_sync=False)

    return made(wrap=wrap)


# ---------------------------------------------------------------------- batches


def batch_norm() -> Made:
    return made(model=network(nn.BatchNorm1d(8)))


def batch_norm_and_dropout() -> Made:
    return made(model=network(nn.BatchNorm1d(8), nn.Dropout(0.2)))


def same_dropout_seed() -> Made:
    def wrap(model: nn.Module, rank: int, size: int) -> nn.Module:
        torch.manual_seed(42)
        return ddp(model, rank, size)

    return made(model=network(nn.Dropout(0.3)), wrap=wrap)


def ragged() -> Made:
    return made(batches=batches(samples=7))


def ignoring() -> list[Any]:
    """Batches in which the second half has fewer targets that count."""
    found = batches()
    for _, targets in found:
        targets[5:] = -100
    return found


def ignored_targets() -> Made:
    return made(batches=ignoring())


def masked_mean() -> Made:
    def masked(model: nn.Module, batch: Any) -> torch.Tensor:
        each = nn.functional.cross_entropy(model(batch["x"]), batch["y"], reduction="none")
        return (each * batch["mask"]).sum() / batch["mask"].sum()

    mask = torch.tensor([1, 1, 1, 1, 1, 0, 0, 0])
    return made(loss=masked, batches=[{"x": x, "y": y, "mask": mask} for x, y in batches()])


def filled_up() -> Made:
    """A batch of 7, and shares of 4 each, as DistributedSampler makes them: the first sample is there twice."""

    def shard(batch: Any, rank: int, size: int) -> Any:
        chosen = torch.tensor([*range(7), 0])[rank::size]
        return tuple(one[chosen] for one in batch)

    return made(batches=batches(samples=7), shard=shard)


def same_samples() -> Made:
    return made(shard=lambda batch, rank, size: tuple(one[: len(one) // size] for one in batch))


def contrastive() -> Made:
    def among_the_batch(model: nn.Module, batch: Any) -> torch.Tensor:
        made_BC = nn.functional.normalize(model(batch[0]))
        return nn.functional.cross_entropy(made_BC @ made_BC.detach().T / 0.5, torch.arange(len(made_BC)))

    return made(loss=among_the_batch)


# ---------------------------------------------------------------------- clipping, settings, noise


def clipped_before_averaging() -> Made:
    def after(model: nn.Module) -> None:
        nn.utils.clip_grad_norm_(model.parameters(), 0.05)
        average(model)

    return by_hand(after, clip=0.05)


def another_limit() -> Made:
    def train_step(model: nn.Module, batch: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        loss(model, batch).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.05 * world())
        optimizer.step()

    return made(wrap=ddp, train_step=train_step, clip=0.05)


def rate_times_ranks() -> Made:
    return made(optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.1 * world()))


def noise_of_the_machine() -> Made:
    def noisy(model: nn.Module, batch: Any) -> torch.Tensor:
        return loss(model, batch) * (1 + int.from_bytes(os.urandom(2), "little") / 65536)

    return made(loss=noisy)


# What each is called, and, where there is one, the factor.
DEFECTS: dict[str, tuple[str, str]] = {
    "summed_over_ranks": ("scaled-gradient", "2 = number of ranks"),
    "averaged_twice": ("scaled-gradient", "0.5 = 1 / number of ranks"),
    "multiplied_by_ranks": ("scaled-gradient", "2 = number of ranks"),
    "global_count_without_ranks": ("scaled-gradient", "0.5 = 1 / number of ranks"),
    "accumulation_not_divided": ("scaled-gradient", "4 = number of micro-batches"),
    "accumulation_divided_twice": ("scaled-gradient", "0.25 = 1 / number of micro-batches"),
    "summed_over_ranks_and_pieces": ("scaled-gradient", "8 = ranks x micro-batches"),
    "one_layer_summed_twice": ("scaled-gradient", "2 = number of ranks"),
    "never_wrapped": ("not-synchronised", ""),
    "inner_module_called": ("not-synchronised", ""),
    "no_sync_left_on": ("not-synchronised", ""),
    "one_layer_forgotten": ("not-synchronised", ""),
    "unfrozen_after_wrapping": ("not-synchronised", ""),
    "last_piece_not_synchronised": ("not-synchronised", ""),
    "pieces_set_to_zero": ("lost-micro-batch", "6 of 8"),
    "never_set_to_zero": ("stale-gradient", "1"),
    "different_start": ("different-start", ""),
    "batch_norm": ("local-batch-statistics", ""),
    "batch_norm_and_dropout": ("local-batch-statistics", ""),
    "same_dropout_seed": ("same-random-numbers", ""),
    "ragged": ("ragged-batch", "4 : 3"),
    "ignored_targets": ("local-count", "4 : 1"),
    "masked_mean": ("local-count", "4 : 1"),
    "filled_up": ("repeated-samples", "3 of 24"),
    "same_samples": ("repeated-samples", "12 of 24"),
    "contrastive": ("mixes-samples", ""),
    "clipped_before_averaging": ("clipped-before-averaging", ""),
    "another_limit": ("clipping-differs", "2 = number of ranks"),
    "rate_times_ranks": ("optimizer-settings", "2 = number of ranks"),
    "noise_of_the_machine": ("non-deterministic", ""),
}
HEALTHY = (
    "healthy", "healthy_tuple", "healthy_by_hand", "healthy_dropout", "healthy_accumulating", "healthy_clipped",
    "healthy_adamw", "healthy_global_count",
)  # fmt: skip
