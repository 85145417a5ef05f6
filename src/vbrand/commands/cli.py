"""The commands: each parses, calls the library once, and prints or writes. It imports what it needs when it runs."""

import json
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

import vbrand
from vbrand.commands.terminal import bar, fail, sentences, show, stages, visible
from vbrand.io.tables import FORMATS

_EPILOG = "Exit codes: 0 done; 1 a bug in vbrand; 2 the input can't be used; 130 stopped."
_STUDIES = ("ss1", "robustness", "ss2", "ss3", "statlog", "all")
# what other detectors call the share of rows that they are told to find
_SHARES = ("contamination", "outlier_fraction", "nu")
_DESIGNS = ("ss1", "ss2_simple", "ss2_complex", "ss3_low", "ss3_high")

app = typer.Typer(
    help="Find what is new in a table of measurements.",
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)

Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Id = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Column that names the rows.")]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="COLUMN", help="Column to copy to the output, not to measure; may be repeated."),
]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vbrand {vbrand.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Find what is new in a table of measurements."""


@app.command(epilog=_EPILOG)
def discover(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help=f"Labelled rows: {FORMATS} or -.")],
    label: Annotated[str, typer.Option("--label", metavar="COLUMN", help="Column that holds the known classes.")],
    test: Annotated[
        str | None,
        typer.Argument(metavar="TEST", help="Unknown rows. Without it, the rows of TRAIN that have no label."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the results.")] = Path(
        "vbrand-out"
    ),
    name: Id = None,
    ignore: Ignore = None,
    truth: Annotated[
        str | None, typer.Option("--truth", metavar="COLUMN", help="Column of the true classes, to score the result.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of VBrand, such as threshold=0.9; may be repeated."
        ),
    ] = None,
    max_false_novelty: Annotated[
        float | None,
        typer.Option("--max-false-novelty", metavar="SHARE", help="Share of known rows that may be called novel."),
    ] = None,
    false_share: Annotated[
        float | None,
        typer.Option(
            "--false-share",
            metavar="SHARE",
            help='Mark rows, in a column "selected", that are novel but for an expected share of false ones.',
        ),
    ] = None,
    no_rows: Annotated[
        bool, typer.Option("--no-rows", help="Keep no labelled rows in the model; what it discovers is unchecked.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", help="Number of parallel workers; -1: one per core.")] = -1,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON instead of a table.")] = False,
    debug: Debug = False,
) -> None:
    """Find known classes and novel groups among unknown rows.

    Columns are matched by name. Writes labels.csv, model.vbrand, summary.json and report.html into FOLDER.

    Example: vbrand discover known.csv unknown.csv --label variety --id sample -o found
    """
    with sentences(debug=debug):
        from vbrand.commands.analysis import analyse, summary_json, write_analysis
        from vbrand.io.tables.material import Roles, read_material

        stage = stages(quiet=quiet)
        _want_folder(out)
        chosen = _settings(settings or [], max_false_novelty)
        with stage("reading"):
            material = read_material(train, test, Roles(label, name, truth, tuple(ignore or ())))

        given = {"random_state": 0, "n_jobs": jobs, "verbose": not quiet and sys.stderr.isatty(), **chosen}
        analysis = analyse(material, given, stage, false_share=false_share)
        write_analysis(analysis, out, stage, rows=not no_rows)

        if as_json:
            typer.echo(summary_json(analysis), nl=False)
        elif not quiet:
            show(analysis.facts)
            if analysis.selection is not None:
                typer.echo(analysis.selection)
            typer.echo(f"Look at {out / 'report.html'}; labels are in {out / 'labels.csv'}.")


@app.command(epilog=_EPILOG)
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file: model.vbrand.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help=f"Rows: {FORMATS} or -.")],
    name: Id = None,
    ignore: Ignore = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="File for the labels; else standard output.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Label new rows with a model; the output has the columns of labels.csv.

    Example: vbrand predict found/model.vbrand more.csv --id sample -o more-labels.csv
    """
    with sentences(debug=debug):
        from vbrand.commands.analysis import write_labels
        from vbrand.estimators.model_file import read_model
        from vbrand.estimators.variational import VBrand
        from vbrand.io.files.whole import write_whole
        from vbrand.io.tables.material import Roles, read_unknown

        held = read_model(model)
        passage = held.learned.passage
        roles = Roles(None, name, None, tuple(ignore or ()))
        unknown = read_unknown(new, passage.names, passage.kept.size, roles)
        detector = VBrand.from_model(held)

        if out is None:
            write_labels(sys.stdout.buffer, detector, unknown, held.facts)
            sys.stdout.flush()
        else:
            write_whole(out, lambda file: write_labels(file, detector, unknown, held.facts))


@app.command(epilog=_EPILOG)
def report(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file: model.vbrand.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The report; else report.html beside the model.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Draw the report of a model again: one HTML file that works offline.

    Example: vbrand report found/model.vbrand -o report.html
    """
    with sentences(debug=debug):
        from vbrand.estimators.model_file import read_model
        from vbrand.io.files.whole import write_whole
        from vbrand.pictures.page import report_html

        held = read_model(model)
        if held.facts is None:
            fail("the model holds no discovery to report. Run vbrand discover, or call `discover` before `save`.")
        with stages(quiet=False)("drawing the report"):
            page = report_html(held.facts, held.settings, held.versions).encode()
        target = out or model.with_name("report.html")
        write_whole(target, lambda file: file.write(page))
        typer.echo(visible(held.facts.trust))
        typer.echo(target)


@app.command(epilog=_EPILOG)
def simulate(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY", help=f"{', '.join(_DESIGNS[:-1])} or {_DESIGNS[-1]}", autocompletion=lambda: list(_DESIGNS)
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for train.csv and test.csv.")],
    size: Annotated[float, typer.Option(help="Factor for the number of rows of every class.")] = 1.0,
    columns: Annotated[int, typer.Option(help="Number of columns; those after the second are noise.")] = 2,
    seed: Annotated[int, typer.Option(help="Another seed gives another replicate.")] = 0,
    debug: Debug = False,
) -> None:
    """Write a simulated table of the paper: labelled rows, and unknown rows with their true class.

    Example: vbrand simulate ss1 -o ss1; vbrand discover ss1/train.csv ss1/test.csv --label class --truth class -o found
    """
    with sentences(debug=debug):
        from vbrand.studies.tables import write_simulated

        if study not in _DESIGNS:
            fail(f"there is no study {study!r} to simulate; choose {', '.join(_DESIGNS)}.")
        for path in write_simulated(study, out, size=size, columns=columns, seed=seed):
            typer.echo(path)


@app.command(epilog=_EPILOG)
def demo(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for labels, model, summary and report.")
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn eight of the ten handwritten digits and discover the other two.

    Example: vbrand demo -o demo
    """
    with sentences(debug=debug):
        from vbrand.commands.analysis import write_analysis
        from vbrand.commands.demo import UNSEEN, run_demo

        if out is not None:
            _want_folder(out)

        missing = " and ".join(str(digit) for digit in UNSEEN)
        if not quiet:
            typer.echo(f"Handwritten digits: learn all but {missing}, then look at all ten (the first run compiles).")

        stage = stages(quiet=quiet)
        analysis = run_demo(stage, verbose=not quiet and sys.stderr.isatty())
        if not quiet:
            show(analysis.facts)
        if out is not None:
            write_analysis(analysis, out, stage)
            if not quiet:
                typer.echo(f"Look at {out / 'report.html'}.")


@app.command(name="reproduce", epilog=_EPILOG)
def reproduce_command(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY", help=f"{', '.join(_STUDIES[:-1])} or all", autocompletion=lambda: list(_STUDIES)
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for reproduction.md, tables and figures.")] = Path(),
    quick: Annotated[bool, typer.Option("--quick", help="A quick look: fewer cells, replicates and draws.")] = False,
    full: Annotated[bool, typer.Option("--full", help="The paper's grid: 50 replicates of everything.")] = False,
    data: Annotated[
        Path | None, typer.Option(help="Folder with sat.trn and sat.tst; else that in VBRAND_DATA; else downloaded.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Number of parallel tasks; -1: one per core.")] = -1,
    debug: Debug = False,
) -> None:
    """Run the studies of the paper, from simulation to figure; a stopped run continues where it stopped.

    Without --quick or --full it runs what docs/reproduction.md shows (about an hour on two cores).

    Example: vbrand reproduce ss1 --quick -o reproduced
    """
    with sentences(debug=debug):
        from joblib import effective_n_jobs

        from vbrand.studies.plans import EFFORTS
        from vbrand.studies.reproduce import STUDIES, reproduce, write_page

        if study not in _STUDIES:
            fail(f"there is no study {study!r}; choose {', '.join(STUDIES)} or all.")
        if quick and full:
            fail("--quick and --full can't be used together; give one of them.")

        effort = EFFORTS["quick" if quick else "full" if full else "shown"]
        for each in STUDIES if study == "all" else (study,):
            for figure in reproduce(each, out, effort, jobs=effective_n_jobs(jobs), data=data, bar=bar):
                typer.echo(figure)
        typer.echo(write_page(out, effort))


def _want_folder(out: Path) -> None:
    """Refuse a file where a folder is meant, before any work is done."""
    if out.exists() and not out.is_dir():
        fail(f"{out} is a file; -o needs the name of a folder.")


def _settings(given: list[str], max_false_novelty: float | None = None) -> dict[str, Any]:
    """Return NAME=VALUE pairs, and the setting that has an option of its own; values are JSON, or else text."""
    from vbrand.estimators.variational import VBrand

    known = set(VBrand().get_params()) - {"init", "novel_mean", "novel_scale"}
    settings = dict[str, Any]()
    for pair in given:
        name, equals, text = pair.partition("=")
        if name in _SHARES:
            fail(
                f"--set {pair}: there is no share of novel rows to guess, it is found; --max-false-novelty limits the "
                "known rows that are called novel (max_false_novelty), --false-share marks the rows to rely on."
            )
        if not equals or name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near and equals else f"NAME is one of {', '.join(sorted(known))}."
            fail(f"--set {pair}: NAME=VALUE is expected; {hint}")

        try:
            value = json.loads(text)
        except ValueError:
            value = None if text == "None" else text
        settings[name] = tuple(value) if isinstance(value, list) else value

    if max_false_novelty is not None:
        if "max_false_novelty" in settings:
            fail("max_false_novelty is given twice, by --set and by its option; give it once.")
        settings["max_false_novelty"] = max_false_novelty
    return settings
