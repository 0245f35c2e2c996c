"""The worst model is kept as the best: what chooses it takes the metric the wrong way round.

What it does: flags what keeps a checkpoint, stops early or lowers the rate by a metric whose name says that it gets
better the other way: a transformers Trainer with `metric_for_best_model` wer (also on a command line or in YAML), for
which greater is better unless it is told otherwise; Lightning's ModelCheckpoint and EarlyStopping, whose mode is "min"
unless it is given, on an accuracy; ReduceLROnPlateau; a comparison by hand that keeps the lower accuracy.

Why it matters: nothing fails. The checkpoint with the most errors is kept and loaded at the end, the better ones are
deleted, and early stopping ends a run while it improves.

Bad:

    Seq2SeqTrainingArguments(load_best_model_at_end=True, metric_for_best_model="wer")

Good:

    Seq2SeqTrainingArguments(load_best_model_at_end=True, metric_for_best_model="wer", greater_is_better=False)

What it cannot see: metrics whose names do not say what they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.audit.updates.metric_directions import direction, is_made_otherwise, is_turned_round
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.execution.events import Execution
from diagnostics.static.execution.values import Const, Made, Value
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import script_file
from diagnostics.static.launch_files.launcher_commands import launcher_calls
from diagnostics.static.launch_files.yaml_nodes import column_of, documents, entries, line_of, mappings, scalar
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A354"
NAME = "metric-taken-the-wrong-way"
SEVERITY = Severity.WARNING
READS = frozenset({FileKind.PYTHON, FileKind.SHELL, FileKind.YAML})
WORDS = ("metric_for_best_model", "ModelCheckpoint", "EarlyStopping", "ReduceLROnPlateau", "monitor", "best_loss",
         "best_acc", "best_val_loss", "best_val_acc", "best_accuracy", "best_f1", "best_auc", "best_psnr", "best_dice",
         "best_miou", "best_wer", "best_acc1", "best_top1", "best_error", "best_rmse", "best_mae",
         "best_perplexity")  # fmt: skip
CHECKLIST = "the best checkpoint is chosen the right way round"
_METRIC, _GREATER, _AT_END = "metric_for_best_model", "greater_is_better", "load_best_model_at_end"
_CALLBACKS = {"ModelCheckpoint": 2, "EarlyStopping": 0}  # where the monitored metric stands
_KEEPS = ("save", "checkpoint", "state_dict", "deepcopy")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields where the worst is taken for the best."""
    if file.is_test:
        return
    if file.kind is FileKind.SHELL:
        yield from _on_command_lines(file, project)
    elif file.kind is FileKind.YAML:
        yield from _on_command_lines(file, project)
        yield from _in_settings(file, project)
    else:
        yield from also(_read(file, project), file, project, _run)


def _wrong(metric: str, taken: str, where: str, fix: str) -> tuple[str, str]:
    better = "greater" if taken == "max" else "smaller"
    return f"{where} takes the {better} '{metric}' for the better one, and it is the other way round", fix


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    closures = project.fact(ImportClosures)
    around: list[Function] | None = None
    for function in project.functions_in(file):
        for call in function.nodes_of(ast.Call):
            if not isinstance(call, ast.Call):
                continue
            found = _of_trainer(call, closures.words(file.shown)) or _of_callback(call, function, project)
            if found is None:
                continue
            around = around or [one for one in project.functions if one.file in closures.around(file.shown)]
            if not is_turned_round(found[1], around):
                yield violation(file, found[0], *_wrong(*found[1:]), confidence=Confidence.LIKELY)
        for node in function.nodes_of(ast.If):
            if isinstance(node, ast.If) and (told := _by_hand(node, function)) is not None:
                yield violation(file, node, *_wrong(*told), confidence=Confidence.LIKELY)


def _of_trainer(call: ast.Call, words: frozenset[str]) -> tuple[ast.AST, str, str, str, str] | None:
    """Returns (metric, its name, how it is taken, by what, fix) of a Trainer's arguments."""
    given = {one.arg: one.value for one in call.keywords}
    metric = given.get(_METRIC)
    if None in given or not isinstance(metric, ast.Constant) or not isinstance(metric.value, str):
        return None
    said = given.get(_GREATER)
    if said is None and _GREATER in words:
        return None  # it may be set afterwards
    if said is not None and not isinstance(said, ast.Constant):
        return None
    told = {"True": "max", "False": "min"}.get(ast.unparse(said)) if said is not None else None
    loads, saves = given.get(_AT_END), given.get("save_strategy")
    used = isinstance(loads, ast.Constant) and loads.value is True
    used = used or "EarlyStoppingCallback" in words or (isinstance(saves, ast.Constant) and saves.value == "best")
    found = _taken(metric.value, told) if used else None
    return (metric, *found) if found is not None else None


def _taken(metric: str, said: str | None) -> tuple[str, str, str, str] | None:
    """Returns (metric, how it is taken, by what, fix) where a Trainer takes a metric the wrong way round."""
    taken = said or ("min" if metric.endswith("loss") else "max")
    right = direction(metric)
    if not right or right == taken:
        return None
    fix = f"{_GREATER}={right == 'max'}"
    return metric, taken, "the Trainer" if said else f"the Trainer, which is not told {_GREATER},", fix


def _of_callback(call: ast.Call, function: Function, project: Project) -> tuple[ast.AST, str, str, str, str] | None:
    """Returns the same of a callback of Lightning."""
    name = last_name(call.func)
    at = _CALLBACKS.get(name)
    if at is None or "lightning" not in project.name(call.func, function):
        return None
    given = {one.arg: one.value for one in call.keywords}
    metric = given.get("monitor") or (call.args[at] if len(call.args) == at + 1 else None)
    mode, top = given.get("mode", ast.Constant("min")), given.get("save_top_k", ast.Constant(1))
    if (
        None in given
        or not isinstance(mode, ast.Constant)
        or not isinstance(metric, ast.Constant)
        or len(call.args) > 3
    ):
        return None
    right = direction(str(metric.value))
    if not right or mode.value == right or mode.value not in ("min", "max") or isinstance(top, ast.UnaryOp):
        return None
    by = name if "mode" in given else f'{name}, whose mode is "min" where none is given,'
    return metric, str(metric.value), str(mode.value), by, f'mode="{right}"'


def _by_hand(node: ast.If, function: Function) -> tuple[str, str, str, str] | None:
    """Returns (metric, how it is taken, by what, fix) of a comparison with the best one, behind which that is kept."""
    test = node.test
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        return None
    new, best = test.left, test.comparators[0]
    greater = isinstance(test.ops[0], (ast.Gt, ast.GtE))
    if "best" in last_name(new).lower():
        new, best, greater = best, new, not greater
    if len(test.ops) > 1 or "best" not in last_name(best).lower() or not isinstance(new, (ast.Name, ast.Attribute)):
        return None
    right = direction(last_name(new))
    if not right or direction(last_name(best)) != right or (right == "max") is greater:
        return None
    if any(is_made_otherwise(value, right) for value in function.assigned.get(last_name(new), ())):
        return None
    kept = any(isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == ast.unparse(best)
               and ast.unparse(one.value) == ast.unparse(new) for one in node.body)  # fmt: skip
    saved = any(isinstance(one, ast.Call) and any(word in last_name(one.func) for word in _KEEPS)
                for part in node.body for one in walk(part))  # fmt: skip
    if not kept or not saved:
        return None
    sign = ">" if right == "max" else "<"
    shown_ = f"{ast.unparse(new)} {sign} {ast.unparse(best)}"
    return ast.unparse(new), "max" if greater else "min", f"`{ast.unparse(test)}`", shown_


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one in execution.named(".step"):
        owner, node = one.owner, one.node
        if (
            not isinstance(owner, Made)
            or not owner.name.endswith("ReduceLROnPlateau")
            or not isinstance(node, ast.Call)
        ):
            continue
        mode, given = owner.argument(1, "mode"), [*node.args, *(each.value for each in node.keywords)][:1]
        taken = mode.value if isinstance(mode, Const) else "min" if mode is None else ""
        if not given or not isinstance(given[0], (ast.Name, ast.Attribute, ast.Subscript)) or "**" in owner.keywords:
            continue
        metric = _named(given[0])
        right = direction(metric)
        made = one.function.assigned.get(metric, ()) if isinstance(given[0], ast.Name) else ()
        if _is_negative(one.argument(0, "metrics")) or any(is_made_otherwise(value, right) for value in made):
            continue
        if right and taken in ("min", "max") and right != taken:
            by = (
                "ReduceLROnPlateau"
                if mode is not None
                else 'ReduceLROnPlateau, whose mode is "min" where none is given,'
            )
            title, fix = _wrong(metric, taken, by, f'ReduceLROnPlateau(optimizer, mode="{right}")')
            yield violation(
                home(one, project), node, title, fix,
                steps=(shown(owner, project, "made here"),), confidence=Confidence.LIKELY,
            )  # fmt: skip


def _named(value: ast.expr) -> str:
    if isinstance(value, ast.Subscript):
        return value.slice.value if isinstance(value.slice, ast.Constant) and isinstance(value.slice.value, str) else ""
    return last_name(value)


def _is_negative(value: Value | None) -> bool:
    """Whether a number was turned round: `-x`, `1 - x`."""
    if not isinstance(value, Made) or value.name != "-":
        return False
    return len(value.args) == 1 or isinstance(value.args[0], Const)


def _on_command_lines(file: ProjectFile, project: Project) -> Iterator[Violation]:
    closures = project.fact(ImportClosures)
    for script in embedded_scripts(file):
        for ran in script.commands:
            given = _options(ran.words)
            if _METRIC not in given:
                continue
            at, metric = given[_METRIC]
            layers = launcher_calls(ran.words)
            program = script_file(layers[-1], file, project) if layers else None
            words = closures.words(program.shown) if program is not None else frozenset[str]()
            if "transformers" not in words or _GREATER in words:
                continue
            said = given[_GREATER][1].lower() if _GREATER in given else ""
            used = "EarlyStoppingCallback" in words or given.get(_AT_END, (0, "false"))[1].lower() in ("", "true")
            used = used or given.get("save_strategy", (0, ""))[1] == "best"
            told = {"": None, "true": "max", "false": "min"}.get(said, said) if _GREATER in given else None
            told = "max" if said == "" and _GREATER in given else told
            found = _taken(metric, told) if used and told in (None, "min", "max") else None
            around = [one for one in project.functions if program and one.file in closures.closure(program.shown)]
            if found is None or is_turned_round(metric, around):
                continue
            line, column = place(file, ran, at)
            title, _ = _wrong(*found)
            yield Violation(
                file=file, line=line, column=column, title=title, fix=f"--{_GREATER} {direction(metric) == 'max'}",
                confidence=Confidence.LIKELY,
            )  # fmt: skip


def _options(words: tuple[str, ...]) -> dict[str, tuple[int, str]]:
    """Returns the options of a command with their places and values, "" without one."""
    found: dict[str, tuple[int, str]] = {}
    for at, word in enumerate(words):
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            after = words[at + 1] if at + 1 < len(words) else "--"
            found[name.replace("-", "_")] = (at, value if equals else "" if after.startswith("--") else after)
    return found


def _in_settings(file: ProjectFile, project: Project) -> Iterator[Violation]:
    told = any(_GREATER in one.words for one in project.python)
    for document in documents(file):
        for mapping, _, _ in mappings(document):
            keys = entries(mapping)
            found, node = None, keys.get(_METRIC) or keys.get("monitor")
            metric = scalar(node)
            if _METRIC in keys and (_GREATER in keys or not told):
                said = scalar(keys.get(_GREATER)).lower()
                used = scalar(keys.get(_AT_END)).lower() == "true" or scalar(keys.get("save_strategy")) == "best"
                way = {"true": "max", "false": "min", "": None}.get(said, "")
                found = _taken(metric, way) if used and way != "" else None
            elif "monitor" in keys and scalar(keys.get("mode")) in ("min", "max"):
                mode, right = scalar(keys.get("mode")), direction(metric)
                if right and right != mode:
                    found = (metric, mode, f"mode: {mode}", f"mode: {right}")
            if found is None or node is None or is_turned_round(metric, list(project.functions)):
                continue
            title, fix = _wrong(*found)
            yield Violation(
                file=file, line=line_of(node), column=column_of(node), title=title, fix=fix.replace("=", ": "),
                confidence=Confidence.LIKELY,
            )  # fmt: skip
