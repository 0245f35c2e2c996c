"""Traces: the order in which small real projects run their calls."""

from __future__ import annotations

import textwrap

from diagnostics.static.ordering.entry_points import EntryPoint
from diagnostics.static.ordering.event_order import CallEvent, EventOrder, Trace, meeting
from diagnostics.static.ordering.event_traces import event_traces
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

INIT = "torch.distributed.init_process_group"
BARRIER = "torch.distributed.barrier"
DESTROY = "torch.distributed.destroy_process_group"


def traced(**files: str) -> list[Trace]:
    audited = [
        ProjectFile(f"{name}.py", textwrap.dedent(text).encode(), FileKind.PYTHON) for name, text in files.items()
    ]
    return list(event_traces(Project(audited)))


def lines(trace: Trace) -> list[str]:
    """Returns the trace as "train.py:3 torch.distributed.barrier"."""
    return [f"{one.function.file}:{one.call.lineno} {one.name}" for one in trace.events]


def only(trace: Trace, name: str) -> CallEvent:
    (event,) = trace.named(name)
    return event


def test_calls_stand_in_the_order_of_evaluation_also_through_functions_of_other_files() -> None:
    (trace,) = traced(
        groups="""
            import torch.distributed as dist

            def setup(backend):
                dist.init_process_group(backend)
                dist.barrier()
        """,
        train="""
            import torch.distributed as dist
            from groups import setup

            def main():
                setup("gloo")
                print(finish(dist.get_rank()))

            def finish(rank):
                dist.destroy_process_group()

            if __name__ == "__main__":
                main()
        """,
    )
    assert trace.start is EntryPoint.SCRIPT
    assert lines(trace) == [
        f"groups.py:5 {INIT}",
        f"groups.py:6 {BARRIER}",
        "train.py:7 torch.distributed.get_rank",
        f"train.py:10 {DESTROY}",
    ]
    first = trace.events[0]
    assert [site.syntax.lineno for site in first.chain] == [13, 6]  # type: ignore[attr-defined]


def test_two_arms_of_a_branch_exclude_each_other_and_what_follows_a_return_is_the_other_arm() -> None:
    (trace,) = traced(
        train="""
            import torch.distributed as dist

            def main(distributed):
                if not distributed:
                    dist.is_initialized()
                    return
                dist.init_process_group("gloo")
                dist.barrier()

            main(input())
        """
    )
    asked, made, met = trace.events
    assert trace.order(asked, made) is EventOrder.EXCLUSIVE
    assert trace.order(made, met) is EventOrder.SURELY
    assert trace.order(met, made) is EventOrder.AFTER


def test_what_runs_under_a_condition_is_before_the_rest_maybe_and_never_surely() -> None:
    (trace,) = traced(
        train="""
            import os
            import torch.distributed as dist

            if "RANK" in os.environ:
                dist.init_process_group("gloo")
            dist.barrier()
        """
    )
    made, met = trace.events
    assert trace.order(made, met) is EventOrder.MAYBE


def test_one_setting_asked_in_two_functions_goes_one_way() -> None:
    (trace,) = traced(
        train="""
            import torch.distributed as dist

            def setup(args):
                if args.distributed:
                    dist.init_process_group("gloo")

            def alone(args):
                if not args.distributed:
                    dist.is_initialized()

            def meet(args):
                if args.distributed:
                    dist.barrier()

            def main(args):
                setup(args)
                alone(args)
                meet(args)

            if __name__ == "__main__":
                main(None)
        """
    )
    made, asked, met = trace.events
    assert trace.order(made, asked) is EventOrder.EXCLUSIVE
    assert trace.order(made, met) is EventOrder.SURELY


def test_a_parameter_given_as_a_constant_decides_its_branch() -> None:
    (trace,) = traced(
        train="""
            import torch.distributed as dist

            def setup(backend, wait=False):
                dist.init_process_group(backend)
                if wait:
                    dist.barrier()

            setup("gloo")
        """
    )
    assert lines(trace) == [f"train.py:5 {INIT}"]


def test_generators_run_where_they_are_read_and_lambdas_not_where_they_are_written() -> None:
    (trace,) = traced(
        train="""
            import torch.distributed as dist

            def batches():
                dist.barrier()
                yield 1

            def main():
                source = batches()
                later = lambda: dist.destroy_process_group()
                dist.init_process_group("gloo")
                for batch in batches():
                    print(batch)

            main()
        """
    )
    assert lines(trace) == [f"train.py:11 {INIT}", f"train.py:5 {BARRIER}"]


def test_a_function_given_to_spawn_starts_a_trace_of_its_own() -> None:
    ranks, parent = traced(
        train="""
            import torch.distributed as dist
            import torch.multiprocessing as mp

            def worker(rank):
                dist.init_process_group("gloo", rank=rank, world_size=2)

            if __name__ == "__main__":
                dist.is_initialized()
                mp.spawn(worker, nprocs=2)
        """
    )
    assert (ranks.start, lines(ranks)) == (EntryPoint.LAUNCHED, [f"train.py:6 {INIT}"])
    assert lines(parent) == ["train.py:9 torch.distributed.is_initialized"]


def test_what_a_module_does_when_it_is_imported_comes_at_the_import() -> None:
    found = traced(
        data="""
            import torch.distributed as dist
            READY = dist.is_initialized()
        """,
        train="""
            import torch.distributed as dist
            dist.init_process_group("gloo")
            import data
        """,
    )
    trace = next(one for one in found if one.entry.file == "train.py")
    assert lines(trace) == [f"train.py:3 {INIT}", "data.py:3 torch.distributed.is_initialized"]


def test_recursion_comes_to_an_end() -> None:
    (trace,) = traced(
        train="""
            import torch.distributed as dist

            def down(depth):
                dist.barrier()
                if depth:
                    down(depth - 1)

            down(3)
        """
    )
    assert lines(trace) == [f"train.py:5 {BARRIER}"]


def test_constructors_and_methods_are_entered() -> None:
    (trace,) = traced(
        train="""
            import torch.distributed as dist

            class Trainer:
                def __init__(self):
                    dist.init_process_group("gloo")

                def fit(self):
                    dist.barrier()

            def main():
                trainer = Trainer()
                trainer.fit()

            main()
        """
    )
    assert lines(trace) == [f"train.py:6 {INIT}", f"train.py:9 {BARRIER}"]
    made, met = trace.events
    assert [site.syntax.lineno for site in meeting(made, met)] == [12, 13]  # type: ignore[attr-defined]


def test_a_function_that_nobody_calls_says_so() -> None:
    (trace,) = traced(
        library="""
            import torch.distributed as dist

            def setup():
                dist.init_process_group("gloo")
        """
    )
    assert trace.start is EntryPoint.UNCALLED
    assert trace.first(INIT) is only(trace, INIT)


def test_a_project_without_anything_distributed_has_no_trace() -> None:
    assert traced(train="print(sum(range(3)))") == []
