"""The commands: each parses, calls the library once, and prints or writes. It imports what it needs when it runs."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

import vbrand
from vbrand.commands import batches
from vbrand.commands.options import (
    EPILOG,
    Category,
    Debug,
    Id,
    Ignore,
    Measure,
    Quiet,
    Replicate,
    Sheet,
    want_folder,
)
from vbrand.commands.terminal import bar, fail, sentences, show, stages, visible
from vbrand.io.tables import FORMATS

_STUDIES = ("ss1", "robustness", "ss2", "ss3", "statlog", "all")
_DESIGNS = ("ss1", "ss2_simple", "ss2_complex", "ss3_low", "ss3_high")

app = typer.Typer(
    help="Find what is new in a table of measurements.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


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


@app.command(epilog=EPILOG)
def look(
    table: Annotated[str, typer.Argument(metavar="TABLE", help=f"A table: {FORMATS} or -.")],
    label: Annotated[
        str | None, typer.Option("--label", metavar="COLUMN", help="Column that holds the known classes.")
    ] = None,
    name: Id = None,
    ignore: Ignore = None,
    measure: Measure = None,
    category: Category = None,
    sheet: Sheet = None,
    debug: Debug = False,
) -> None:
    """Look at a table before anything is fitted: its columns, what would be measured and why, its classes.

    Example: vbrand look plants.xlsx --label species
    """
    with sentences(debug=debug):
        from vbrand.commands.seen import show_look
        from vbrand.io.tables.look import look_at
        from vbrand.io.tables.material import Roles

        given = tuple(ignore or ()), tuple(measure or ()), None, tuple(category or ())
        roles = Roles(label, name, None, *given)
        show_look(look_at(table, roles, sheet), table, roles, sheet)


@app.command(epilog=EPILOG)
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
    measure: Measure = None,
    category: Category = None,
    replicate: Replicate = None,
    sheet: Sheet = None,
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
    xlsx: Annotated[bool, typer.Option("--xlsx", help="Write labels.xlsx, too: the labels as an Excel sheet.")] = False,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="A cluster of Dask; its workers read the Parquet files."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a large table whose run was stopped, after its last pass.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", help="Number of parallel workers; -1: one per core.")] = -1,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON instead of a table.")] = False,
    debug: Debug = False,
) -> None:
    """Find known classes and novel groups among unknown rows.

    Columns are matched by name. Writes labels.csv, model.vbrand, summary.json and report.html into FOLDER; of tables
    beyond a gigabyte labels.parquet, a folder of files, instead of labels.csv.

    Example: vbrand discover known.csv unknown.csv --label variety --id sample -o found
    """
    with sentences(debug=debug):
        stage = stages(quiet=quiet)
        want_folder(out)
        with stage("starting"):  # imports take a second or two, and nobody should wonder
            from vbrand.commands.analysis import analyse, summary_json, write_analysis
            from vbrand.commands.large import read_for
            from vbrand.commands.settings import parsed
            from vbrand.estimators.progress import passes_on
            from vbrand.io.tables.material import Roles
            from vbrand.io.tables.workbook import check_workbook

        chosen = parsed(settings or [], max_false_novelty)
        given_columns = tuple(ignore or ()), tuple(measure or ()), replicate, tuple(category or ())
        roles = Roles(label, name, truth, *given_columns)
        with ExitStack() as until_written:
            with stage(reading := f"reading {train}" if test is None else f"reading {train} and {test}") as line:
                how = sheet, scheduler, resume, passes_on(line, reading)
                material = until_written.enter_context(read_for(out, train, test, roles, *how))
                if xlsx:
                    check_workbook(len(material.unknown.rows))

            given = {"random_state": 0, "n_jobs": jobs, "verbose": not quiet and sys.stderr.isatty(), **chosen}
            analysis = analyse(material, given, stage, false_share=false_share)
            write_analysis(analysis, out, stage, rows=not no_rows, workbook=xlsx)

        if as_json:
            typer.echo(summary_json(analysis), nl=False)
        elif not quiet:
            show(analysis.facts)
            if analysis.selection is not None:
                typer.echo(analysis.selection)
            written = "labels.xlsx" if xlsx else "labels.parquet" if analysis.on_disk else "labels.csv"
            labels = out / written
            typer.echo(f"Look at {out / 'report.html'}; labels are in {labels}. What words mean: vbrand explain.")


@app.command(epilog=EPILOG)
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file: model.vbrand.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help=f"Rows: {FORMATS} or -.")],
    name: Id = None,
    ignore: Ignore = None,
    sheet: Sheet = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="File for the labels; else standard output.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Label new rows with a model; the output has the columns of labels.csv.

    Example: vbrand predict found/model.vbrand more.csv --id sample -o more-labels.csv
    """
    with sentences(debug=debug):
        from vbrand.commands.analysis import label_table, write_labels, write_labels_workbook
        from vbrand.estimators.gaps import note_on_empty_rows
        from vbrand.estimators.model_file import read_model
        from vbrand.estimators.variational import VBrand
        from vbrand.io.files.whole import write_whole
        from vbrand.io.tables.material import Roles, read_unknown
        from vbrand.io.tables.workbook import check_workbook

        held = read_model(model)
        passage = held.learned.passage
        roles = Roles(None, name, None, tuple(ignore or ()))
        unknown = read_unknown(new, passage.names, passage.kept.size, roles, sheet, passage.categories)
        detector = VBrand.from_model(held)

        if out is not None and out.suffix.lower() == ".xlsx":
            check_workbook(len(unknown.rows))
            table = label_table(detector, unknown, held.facts)
            write_whole(out, lambda file: write_labels_workbook(file, table))
        elif out is None:
            write_labels(sys.stdout.buffer, detector, unknown, held.facts)
            sys.stdout.flush()
        else:
            write_whole(out, lambda file: write_labels(file, detector, unknown, held.facts))
        note = note_on_empty_rows(unknown.rows, passage)
        if note is not None:
            typer.echo(note, err=True)  # labels may be on standard output


app.command(epilog=EPILOG)(batches.update)
app.command(epilog=EPILOG)(batches.name)
app.command(epilog=EPILOG)(batches.events)


@app.command(epilog=EPILOG)
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


@app.command(epilog=EPILOG)
def settings(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Settings to tell all about; else those that matter."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Tell what can be set with --set NAME=VALUE: five settings that matter, and the names of the others.

    Example: vbrand settings threshold
    """
    with sentences(debug=debug):
        from vbrand.commands.settings import about

        typer.echo(about(names or []))


@app.command(epilog=EPILOG)
def explain(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORD]...", help="Words such as share, tails, ARI; else all of them.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Tell what the words mean that tables, notes and the report use.

    Example: vbrand explain "P(novel)" tails
    """
    with sentences(debug=debug):
        from vbrand.commands.words import explained

        typer.echo(explained(words or []))


@app.command(epilog=EPILOG)
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


@app.command(epilog=EPILOG)
def demo(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for labels, model, summary and report.")
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn two cultivars of wine from their chemistry, and discover the third among wines that nobody labelled.

    Example: vbrand demo -o demo
    """
    with sentences(debug=debug):
        from vbrand.commands.analysis import write_analysis
        from vbrand.commands.demo import CULTIVARS, UNSEEN, run_demo

        if out is not None:
            want_folder(out)

        known = " and ".join(name for name in CULTIVARS if name != UNSEEN)
        if not quiet:
            typer.echo(
                f"Wines of Piedmont, 13 chemical measurements each. Some {known} are labelled; nobody has\n"
                f"labelled any {UNSEEN}. What is among the other wines? (A first run compiles, half a minute or so.)\n"
            )

        stage = stages(quiet=quiet)
        analysis = run_demo(stage, verbose=not quiet and sys.stderr.isatty())
        if not quiet:
            show(analysis.facts)
        if out is not None:
            write_analysis(analysis, out, stage)
            if not quiet:
                typer.echo(f"Look at {out / 'report.html'}.")


@app.command(name="reproduce", epilog=EPILOG)
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
