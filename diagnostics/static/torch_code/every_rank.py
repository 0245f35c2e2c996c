"""Whether a piece of code runs on every rank of a job, under no test of the rank. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cached_property

from diagnostics.static.dataflow.local_ranks import spawns_of
from diagnostics.static.dataflow.rank_guards import is_rank_guarded
from diagnostics.static.dataflow.taint_sources import RANK, source_of
from diagnostics.static.program.functions import Function, default_of
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.own_nodes import statements_of
from diagnostics.static.program.project import Project
from diagnostics.static.torch_code.training_functions import INIT, MANAGED, WRAPPERS

# What makes a program one of several ranks: a group, a wrapper, an object of a library that wraps models. A trainer
# does so as well, and mostly has one process.
_OF_A_JOB = (INIT, *WRAPPERS, *(name for name in MANAGED if not name.endswith("Trainer")))
_ROUNDS = 6
_TURNS = re.compile(r"lock|first|once|ordered", re.IGNORECASE)


class EveryRank:
    """Answers for one project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def runs(self, node: ast.AST, function: Function) -> bool:
        """Whether several ranks come to a node, as far as the program shows, and nothing keeps them apart."""
        closures = self._project.fact(ImportClosures)
        if self._project.by_path[function.file].is_test:
            return False
        if next(closures.calls(function.file, *_OF_A_JOB), None) is None:
            return False
        if id(function) not in self._of_jobs:
            return False
        if self._in_turns(node, function) or is_rank_guarded(node, function, self._project):
            return False
        if self._left_before(node, function):
            return False
        return not self._spawning(function.file) or id(function) in self._reached_by_workers

    def _left_before(self, node: ast.AST, function: Function) -> bool:
        """Whether `if flag: return` comes first, and everybody of the job leaves there: by the flag's default."""
        line = getattr(node, "lineno", 0)
        for one in statements_of(function.syntax):
            if not isinstance(one, ast.If) or one.lineno >= line or not isinstance(one.body[-1], ast.Return):
                continue
            if not isinstance(one.test, ast.Name) or one.test.id not in function.parameters:
                continue
            flag, default = one.test.id, default_of(function, one.test.id)
            if isinstance(default, ast.Constant) and default.value is True:
                place = function.parameters[function.implied :].index(flag)
                calls = self._calls_of_job(function)
                return bool(calls) and not any(
                    len(call.args) > place or any(word.arg in (flag, None) for word in call.keywords) for call in calls
                )
        return False

    def _calls_of_job(self, function: Function) -> list[ast.Call]:
        """Returns the calls by which the functions of a job come to one, under whatever name they import it."""
        return [
            node
            for one in self._project.functions
            if id(one) in self._of_jobs and not self._project.by_path[one.file].is_test
            for node in one.nodes_of(ast.Call)
            if isinstance(node, ast.Call) and any(each is function for each in self._project.targets(node, one))
        ]

    def is_of_job(self, function: Function) -> bool:
        """Whether a function is called on the way to what sets up a group or a wrapper, or behind that."""
        return id(function) in self._of_jobs

    def is_spawned(self, function: Function) -> bool:
        """Whether processes come to a function that torch.multiprocessing.spawn has started."""
        return id(function) in self._reached_by_workers

    def _in_turns(self, node: ast.AST, function: Function, depth: int = 2) -> bool:
        """Whether a lock or the like lets ranks in one after the other, or what fails is caught; also around calls."""
        file = self._project.by_path[function.file]
        child, around = node, file.parents.get(node)
        while around is not None and child is not function.syntax:
            if isinstance(around, (ast.With, ast.AsyncWith)):
                items = around.items if child in around.body else ()  # a manager does not keep itself apart
                if any(self._keeps_apart(item.context_expr, function) for item in items):
                    return True
            elif isinstance(around, ast.Try) and child in around.body and around.handlers:
                return True
            child, around = around, file.parents.get(around)
        callers = self._project.callers(function)[:4] if depth and function.name != "<module>" else []
        return bool(callers) and all(self._in_turns(call, where, depth - 1) for call, where in callers)

    def _keeps_apart(self, manager: ast.expr, function: Function) -> bool:
        """Whether a context manager lets ranks in by turns: by its name, or because it asks for the rank."""
        if _TURNS.search(ast.unparse(manager)):
            return True
        entered = self._project.targets(manager, function) if isinstance(manager, ast.Call) else ()
        return any(
            source_of(node) == RANK
            for one in entered
            for node in one.nodes_of((ast.Call, ast.Name, ast.Attribute, ast.Constant))
        )

    def _spawning(self, file: str) -> bool:
        around = self._project.fact(ImportClosures).around(file)
        return any(one.file in around for one in self._workers)

    @cached_property
    def _of_jobs(self) -> frozenset[int]:
        """The functions of a job: those that set up a group or a wrapper, what calls them, and what that calls."""
        own = [
            function
            for name in _OF_A_JOB
            for _, function in self._project.calls_by_canonical.get(name, ())
            if not self._project.by_path[function.file].is_test
        ]
        above = self._followed(own, lambda one: [caller for _, caller in self._project.callers(one)])
        return frozenset(
            above | self._followed([one for one in self._project.functions if id(one) in above], self._called)
        )

    def _called(self, function: Function) -> list[Function]:
        return [
            target
            for node in function.nodes_of(ast.Call)
            if isinstance(node, ast.Call)
            for target in self._project.targets(node, function)
        ]

    @staticmethod
    def _followed(start: list[Function], next_of: Callable[[Function], list[Function]]) -> set[int]:
        found = {id(one) for one in start}
        waiting = start
        for _ in range(_ROUNDS):
            waiting = list({id(one): one for each in waiting for one in next_of(each) if id(one) not in found}.values())
            found |= {id(one) for one in waiting}
        return found

    @cached_property
    def _workers(self) -> list[Function]:
        """The functions that torch.multiprocessing.spawn runs."""
        return [one for one in self._project.functions if one.parameters and spawns_of(one, self._project)]

    @cached_property
    def _reached_by_workers(self) -> frozenset[int]:
        return frozenset(self._followed(self._workers, self._called))
