"""`ups-doctor audit [PATHS]`: faults of distributed training, found in source that is read and never run."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import click

from diagnostics.audit import baseline, cache, changed_lines, fixes, settings, watch
from diagnostics.audit.files import shown_path
from diagnostics.audit.found import Audit
from diagnostics.audit.output import checklist, github
from diagnostics.audit.output.filter import Filter
from diagnostics.audit.output.gitlab import gitlab_json
from diagnostics.audit.output.json_text import audit_json
from diagnostics.audit.output.sarif import sarif_json
from diagnostics.audit.output.terminal import Lines, summary_line
from diagnostics.audit.run import AuditOptions, known_rules, run
from diagnostics.core.console import ask, clear, say, wants_colour
from diagnostics.core.errors import UsageError, from_os_error

DIFF_COLOURS = {"+": "32", "-": "31", "@": "36"}


@click.command("audit")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@click.option("--select", multiple=True, metavar="A1,A203", help="Only these rules: codes, their beginnings, or names.")
@click.option(
    "--ignore", multiple=True, metavar="A5", help="Not these rules; the closer of --select and --ignore wins."
)
@click.option("--possible", is_flag=True, help="Show also what may be a fault but cannot be decided from source.")
@click.option("--advice", is_flag=True, help="Show also notes: what is no fault but could be better.")
@click.option("--strict", is_flag=True, help="Exit code 1 for warnings, too.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@click.option("--sarif", metavar="FILE", help="Write SARIF 2.1.0 to FILE.sarif or FILE.json, too; - prints it instead.")
@click.option("--github", is_flag=True, help="Print GitHub annotations.")
@click.option("--gitlab", metavar="FILE", help="Write GitLab's Code Quality report to FILE.json, too; - prints it.")
@click.option("--baseline", metavar="FILE", help="Only what is not in FILE counts.")
@click.option("--write-baseline", is_flag=True, help="Write what is found now to the --baseline.")
@click.option("--since", metavar="COMMIT", help="Only what stands on lines that changed since, by git.")
@click.option(
    "--checklist", "as_checklist", is_flag=True, help="Print the table of practices: kept, broken, open, or no case."
)
@click.option("--diff", "as_diff", is_flag=True, help="Print what --fix would change.")
@click.option("--fix", is_flag=True, help="Make the safe changes: shows the diff, then asks.")
@click.option("--watch", is_flag=True, help="Audit again whenever a file changes, until Ctrl-C.")
@click.option("--yes", is_flag=True, help="With --fix: do not ask.")
@click.option("--jobs", type=click.IntRange(1), help="Processes; default: the CPU cores.")
@click.option("--no-cache", is_flag=True, help="Ask every rule again, also where nothing has changed.")
@click.option("--cache-dir", metavar="FOLDER", help="Default: ups-doctor/audit in XDG_CACHE_HOME.")
@click.option("-v", "--verbose", is_flag=True, help="Name every skipped file, and show tracebacks of rules.")
@click.pass_context
def command(context: click.Context, /, paths: tuple[str, ...], **options: Any) -> None:
    """Finds bugs of distributed PyTorch training in Python, notebooks, shell scripts, YAML and Dockerfiles.

    Nothing is imported or run. PATHs are files and folders, the current one by default; of folders, virtual
    environments, build, dist, node_modules and those of tools (.git, .cache) are left out. Shown are errors and
    warnings that are confirmed or likely.

    To be silent about a line: `# ups: ignore[A101] reason` on it or alone above it; about a file:
    `# ups: ignore-file[A6] reason` in its first 30 lines. Settings stand below
    [tool.ups-doctor.audit] in pyproject.toml: select, ignore, exclude, per-file-ignores. What a rule means:
    ups-doctor explain A101.

    Exit codes: 0 no error, 1 errors found, 2 wrong use or settings, 3 no error was found, but a
    rule crashed or a PATH could not be read, 130 stopped by Ctrl-C. What is only possible never counts.
    """
    _refuse_empty(paths, options)
    _refuse_contradictions(options)
    _refuse_places(paths, options)
    shows = Filter(possible=options["possible"], advice=options["advice"])
    asked = _asked(paths, options)
    narrowed = _Narrowing(options)
    if options["watch"]:
        _watch(asked, narrowed, shows, options)
    audit = run(asked)
    if options["write_baseline"]:
        _write(Path(options["baseline"]), baseline.text_of(audit.found))
        say(f"written: {options['baseline']}", err=True)
        context.exit(0)
    audit = narrowed.of(audit)
    if options["as_diff"] or options["fix"]:
        written = _changed(audit, shows, options)
        if options["as_diff"]:
            context.exit(audit.exit_code(strict=options["strict"]))
        audit = narrowed.of(run(asked)) if written else audit
    code = audit.exit_code(strict=options["strict"])
    _show(audit, shows, options, code)
    context.exit(code)


def _refuse_empty(paths: tuple[str, ...], options: dict[str, Any]) -> None:
    """A variable that is not set would ask for something else than was meant: for everything, or for nothing."""
    if "" in paths:
        raise UsageError("one of the paths is empty: a variable that is not set?", hint="ups-doctor audit .")
    for name in ("select", "ignore", "sarif", "gitlab", "baseline", "since", "cache_dir"):
        given = [options[name]] if isinstance(options[name], str) else options[name] or ()
        if any(not one.replace(",", " ").strip() for one in given):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is empty: a variable that is not set?", hint=f"leave {option} out")


def _refuse_contradictions(options: dict[str, Any]) -> None:
    ways = {"--json": options["as_json"], "--github": options["github"], "--checklist": options["as_checklist"],
            "--diff": options["as_diff"], "--fix": options["fix"], "--sarif -": options["sarif"] == "-",
            "--gitlab -": options["gitlab"] == "-", "--write-baseline": options["write_baseline"]}  # fmt: skip
    if options["watch"] and any(ways[name] for name in ("--diff", "--fix", "--write-baseline")):
        raise UsageError("--watch only shows what is found", hint="leave out --diff, --fix and --write-baseline")
    given = [name for name, on in ways.items() if on]
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} both say what is printed", hint="choose one of them")
    if options["yes"] and not options["fix"]:
        raise UsageError(
            "--yes answers the question of --fix, which was not given", hint="ups-doctor audit --fix --yes"
        )
    if options["write_baseline"] and options["baseline"] is None:
        raise UsageError(
            "--write-baseline does not say where to", hint="--baseline audit-baseline.json --write-baseline"
        )
    if options["write_baseline"] and options["since"]:
        raise UsageError("--since would leave most findings out of the baseline", hint="leave --since out")
    gitlab = options["gitlab"]
    if gitlab and gitlab != "-" and Path(gitlab).suffix != ".json":
        raise UsageError(f"--gitlab {gitlab}: the file it writes ends in .json", hint="--gitlab gl-code-quality.json")
    name = options["sarif"]
    if name and name != "-" and Path(name).suffix not in (".sarif", ".json"):
        raise UsageError(f"--sarif {name}: the file it writes ends in .sarif or .json", hint="--sarif audit.sarif")


def _refuse_places(paths: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuses what could not be written or would be compared with nothing, before the audit takes its time."""
    written = {name: options[name] for name in ("sarif", "gitlab") if options[name] not in (None, "-")}
    if options["write_baseline"]:
        written["baseline"] = options["baseline"]
    for name, place in written.items():
        _refuse_unwritable(Path(place))
        same = next((other for other in written if other != name and written[other] == place), None)
        if same is not None:
            raise UsageError(f"--{name} and --{same} would both write {place}", hint="give each a file of its own")
    folder = Path(options["cache_dir"] or ".")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--cache-dir {folder} is no folder", hint="name a folder, or leave it out: --no-cache")
    outside = [one for one in paths if Path(shown_path(Path(one), Path.cwd())).is_absolute()]
    if options["since"] and outside:
        raise UsageError(
            f"--since knows what has changed below the current folder, and {outside[0]} lies outside of it",
            hint="start it in the folder of the repository: cd REPOSITORY && ups-doctor audit --since ...",
        )


def _refuse_unwritable(path: Path) -> None:
    code = (
        errno.EISDIR if path.is_dir()
        else errno.ENOENT if not path.parent.is_dir()
        else errno.EACCES if not os.access(path if path.exists() else path.parent, os.W_OK)
        else 0
    )  # fmt: skip
    if code:
        refused = from_os_error(OSError(code, os.strerror(code)), action="cannot write", path=path)
        raise UsageError(refused.message, hint=refused.hint)


def _asked(paths: tuple[str, ...], options: dict[str, Any]) -> AuditOptions:
    folder = Path(options["cache_dir"]) if options["cache_dir"] else cache.folder()
    return AuditOptions(
        paths=tuple(Path(path) for path in paths) or (Path(),),
        select=options["select"],
        ignore=options["ignore"],
        jobs=options["jobs"] or 0,
        cache_folder=None if options["no_cache"] else folder,
    )


def _watch(asked: AuditOptions, narrowed: _Narrowing, shows: Filter, options: dict[str, Any]) -> NoReturn:
    """Shows what is found, on a clean screen, and again after each change."""
    excluded = settings.load(asked.paths[0], known_rules()).excluded
    before = watch.state(asked.paths, excluded)  # what changes during the audit is seen afterwards
    if not before and all(path.is_file() for path in asked.paths):
        raise UsageError(
            f"--watch {asked.paths[0]}: is no file that rules read", hint="a folder: ups-doctor audit --watch"
        )
    audit: Audit | None = narrowed.of(run(asked))  # what is wrong before anything has changed is wrong use
    while True:
        if audit is not None:
            clear()
            _show(audit, shows, options, audit.exit_code(strict=options["strict"]))
        say(f"watching {len(before)} files; Ctrl-C ends", err=True)
        changed = watch.wait(asked.paths, before, excluded)
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        say(f"changed: {shown_path(changed[0], Path.cwd())}{more}", err=True)
        before = watch.state(asked.paths, excluded)
        try:
            audit = narrowed.of(run(asked))
        except UsageError as error:  # settings that are being written
            audit = None
            say(f"{error}", err=True)


class _Narrowing:
    """What --baseline and --since leave of an audit; read before it begins, so that a wrong one costs no time."""

    def __init__(self, options: dict[str, Any]) -> None:
        asked = options["baseline"] is not None and not options["write_baseline"]
        self.before = baseline.load(Path(options["baseline"])) if asked else None
        self.changed = changed_lines.since(options["since"], Path.cwd()) if options["since"] else None

    def of(self, audit: Audit) -> Audit:
        """Returns the audit with what was there before set apart."""
        if self.before is not None:
            new, old = baseline.part(audit.found, self.before)
            audit = replace(audit, found=new, known=old)
        if self.changed is not None:
            near = tuple(one for one in audit.found if self.changed.concern(one))
            far = tuple(one for one in audit.found if not self.changed.concern(one))
            audit = replace(audit, found=near, unchanged=far)
        return audit


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        refused = from_os_error(error, action="cannot write", path=path)
        raise UsageError(refused.message, hint=refused.hint) from error


def _show(audit: Audit, shows: Filter, options: dict[str, Any], code: int) -> None:
    if options["sarif"]:
        text = sarif_json(audit, shows, known_rules(), version=version("ups-doctor"), exit_code=code)
        if options["sarif"] == "-":
            say(text)
            return
        _write(Path(options["sarif"]), text + "\n")
    if options["gitlab"]:
        text = gitlab_json(audit, shows)
        if options["gitlab"] == "-":
            say(text)
            return
        _write(Path(options["gitlab"]), text + "\n")
    if options["as_json"]:
        say(audit_json(audit, shows, known_rules(), exit_code=code))
    elif options["github"]:
        _print([*github.lines(audit, shows), summary_line(audit, shows)])
    elif options["as_checklist"]:
        _print(
            [*checklist.lines(checklist.checklist(audit, known_rules()), width=_width()), summary_line(audit, shows)]
        )
    else:
        _print(Lines(width=_width(), colour=wants_colour(), verbose=options["verbose"]).of(audit, shows))


def _changed(audit: Audit, shows: Filter, options: dict[str, Any]) -> int:
    """Shows the diff and returns how many files were written."""
    changes = list(fixes.changes(shows.shown(audit)))
    _print(_painted(line) for change in changes for line in change.diff())
    findings, files = sum(len(one.codes) for one in changes), len(changes)
    if not changes:
        say("nothing that can be fixed", err=True)
        return 0
    what = f"{findings} finding{'s' * (findings != 1)} in {files} file{'s' * (files != 1)}"
    if options["as_diff"]:
        say(f"{what}; --fix writes this", err=True)
        return 0
    if not _agreed(what, options):
        return 0
    for change in changes:
        fixes.write(change, Path(change.file.shown))
    say(f"fixed {what}", err=True)
    return files


def _agreed(what: str, options: dict[str, Any]) -> bool:
    if options["yes"]:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        say(f"not written: {what}; without a terminal to ask on, --fix needs --yes", err=True)
        return False
    return ask(f"fix {what}?")


def _painted(line: str) -> str:
    colour = DIFF_COLOURS.get(line[:1], "") if wants_colour() and not line.startswith(("+++", "---")) else ""
    return f"\033[{colour}m{line}\033[0m" if colour else line


def _print(lines: Iterable[str] | Iterator[str]) -> None:
    text = "\n".join(lines)
    if text:
        say(text, colour=wants_colour())


def _width() -> int:
    """Returns how wide the terminal is; what goes into a file or a pipe is not wrapped."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
