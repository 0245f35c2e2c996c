from __future__ import annotations

from dataclasses import replace

from simulated_model import CRASH, OTHER, job_from_record

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.search.model_search import search_model
from diagnostics.bisection.search.module_found import FailureRelation, ModuleFound
from diagnostics.bisection.trial import Failure, FailureKind, ModuleNode, Trial

DIES = replace(CRASH, phase="construct", step=0)
PLAN = [  # built_as, inside, path
    ("model.Net#0", "", ""),
    ("model.Block#0", "model.Net#0", "blocks.0"),
    ("model.Attention#0", "model.Block#0", "blocks.0.attn"),
    ("model.Block#1", "model.Net#0", "blocks.1"),
    ("model.Attention#1", "model.Block#1", "blocks.1.attn"),
    ("model.Head#0", "model.Net#0", "head"),
]


class Constructing:
    """An oracle whose model is constructed as planned; these die in their own constructors, after their children."""

    def __init__(self, *dying: str, after: Failure | None = None, factory: bool = False) -> None:
        self.dying, self.after, self.factory = dying, after, factory
        self.tries = 0

    def ask(self, case: Configuration, why: str) -> Trial:
        self.tries += 1
        begun: list[ModuleNode] = []
        for name, inside, path in PLAN:
            if any(one in case.edits.not_built for one in self.chain(inside)):
                continue
            kind = name.partition("#")[0].removeprefix("model.")
            begun.append(ModuleNode(path=path, class_name=kind, place="model.py:5", built_as=name, inside=inside))
            last = not any(other == name for _, other, _ in PLAN)
            if name in self.dying and name not in case.edits.not_built and last:
                return self.died(case, begun)
        if self.factory:
            return self.died(case, begun, open_too=False)
        if case.edits.not_built and self.after is not None:
            return Trial(case=case, failure=self.after, tree=tuple(begun))
        return Trial(case=case, tree=tuple(begun))

    def ask_all(self, cases):  # type: ignore[no-untyped-def]
        return [self.ask(case, why) for case, why in cases]

    def chain(self, name: str) -> list[str]:
        inside = {one: other for one, other, _ in PLAN}
        found = []
        while name:
            found.append(name)
            name = inside[name]
        return found

    def died(self, case: Configuration, begun: list[ModuleNode], *, open_too: bool = True) -> Trial:
        still = self.chain(begun[-1].built_as) if open_too else []
        tree = tuple(replace(node, path="", built=node.built_as not in still) for node in begun)
        return Trial(case=case, failure=DIES, failed=1, tree=tree)


def searched(oracle: Constructing) -> ModuleFound:
    return search_model(oracle, oracle.ask(job_from_record(), "as asked"))


def test_the_constructor_that_was_open_is_named_by_the_path_that_its_module_has() -> None:
    oracle = Constructing("model.Attention#1")
    found = searched(oracle)
    assert (found.modules, found.class_name, found.place) == (("blocks.1.attn",), "Attention", "model.py:5")
    assert (found.heals, found.fails_alone, found.notes) == (True, None, ())
    assert oracle.tries == 2


def test_where_the_model_cannot_do_without_it_class_and_number_are_told() -> None:
    missing = replace(OTHER, detail="AttributeError", phase="construct")
    oracle = Constructing("model.Attention#1", after=missing)
    found = searched(oracle)
    assert found.heals is None
    assert found.evidence == (
        "without the constructor of model.Attention#1 this failure is gone, and AttributeError comes",
    )


def test_every_constructor_of_a_class_is_told_where_each_fails() -> None:
    found = searched(Constructing("model.Attention#0", "model.Attention#1"))
    assert (found.modules, found.relation) == (("blocks.0.attn", "blocks.1.attn"), FailureRelation.EACH)


def test_a_factory_that_fails_by_itself_names_no_module() -> None:
    found = searched(Constructing(factory=True))
    assert found.modules == ()
    assert found.outside == "it fails in the factory, also where no constructor of a module runs"


def test_a_failure_before_the_first_constructor_names_no_module() -> None:
    trial = Trial(case=job_from_record(), failure=DIES)
    found = search_model(Constructing(), trial)
    assert (found.modules, found.outside) == ((), "it fails before any module is constructed")


class Wrapping(Constructing):
    """An oracle whose model is built and cannot be wrapped because of one module's parameters."""

    def __init__(self, culprit: str) -> None:
        super().__init__()
        self.culprit = culprit

    def ask(self, case: Configuration, why: str) -> Trial:
        self.tries += 1
        fails = replace(OTHER, phase="wrap")
        nodes = [
            ModuleNode(path=path, class_name="", built_as=name, inside=inside, replaceable=False)
            for name, inside, path in PLAN
        ]
        # numbers count what is built only, as it is where an outer module is not built
        counts: dict[str, int] = {}
        there: set[str] = set()
        skipped: set[str] = set()
        for name, inside, path in PLAN:
            if inside in skipped:
                skipped.add(name)
                continue
            kind = name.partition("#")[0]
            number = counts.get(kind, 0)
            counts[kind] = number + 1
            if f"{kind}#{number}" in case.edits.not_built:
                skipped.add(name)
            elif case.edits.alone in (None, path):
                there.add(path)
        if self.culprit in there:
            return Trial(case=case, failure=fails, tree=tuple(nodes))
        late = Failure(kind=FailureKind.EXCEPTION, detail="AttributeError", phase="forward")
        return Trial(case=case, failure=late if case.edits.not_built else None, tree=tuple(nodes))


def test_a_module_whose_parameters_cannot_be_wrapped_is_found_by_not_building_others() -> None:
    for _, _, path in PLAN:
        found = searched(Wrapping(path))
        assert (found.modules, found.heals, found.fails_alone) == ((path,), True, True), path
