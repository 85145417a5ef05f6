"""The commands from week to week: the next batch, names of groups, what became of them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vbrand.commands.options import Debug, Id, Ignore, Quiet, Sheet, want_folder
from vbrand.commands.terminal import fail, sentences, show, stages, visible
from vbrand.io.tables import FORMATS

if TYPE_CHECKING:
    from vbrand.estimators.variational import VBrand

_Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file: model.vbrand.")]


def update(
    model: _Model,
    new: Annotated[str, typer.Argument(metavar="NEW", help=f"The rows of the next batch: {FORMATS} or -.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the results.")],
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="COLUMN",
            help="Column of the known classes of control samples, else empty: they tell whether classes have moved.",
        ),
    ] = None,
    row_id: Id = None,
    ignore: Ignore = None,
    sheet: Sheet = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Go on with the next batch: groups keep their names, and the rows of earlier batches are not needed.

    Writes labels.csv, the next model.vbrand, summary.json and report.html into FOLDER: all of them or none. It may be
    the folder of MODEL.

    Example: vbrand update week1/model.vbrand week2.csv -o week2
    """
    with sentences(debug=debug):
        stage = stages(quiet=quiet)
        want_folder(out)
        with stage("starting"):
            from vbrand.commands.analysis import analyse_batch, write_analysis
            from vbrand.estimators.model_file import read_model
            from vbrand.estimators.variational import VBrand
            from vbrand.io.tables.material import Roles, read_unknown

        held = read_model(model)
        passage = held.learned.passage
        roles = Roles(label, row_id, None, tuple(ignore or ()))
        unknown = read_unknown(new, passage.names, passage.kept.size, roles, sheet, passage.categories)
        analysis = analyse_batch(VBrand.from_model(held), unknown)
        write_analysis(analysis, out, stage, rows=held.learned.witnesses is not None)
        if not quiet:
            show(analysis.facts)
            typer.echo(f"Look at {out / 'report.html'}; the next batch goes on from {out / 'model.vbrand'}.")


def name(
    model: _Model,
    group: Annotated[str | None, typer.Argument(metavar="[GROUP]", help='A group, as "novel 1", or a class.')] = None,
    label: Annotated[str | None, typer.Argument(metavar="[NAME]", help="What it is.")] = None,
    names: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help='Names from a JSON file: {"novel 1": "oat"}.')
    ] = None,
    join: Annotated[bool, typer.Option("--join", help="NAME is a known class: the group is that, too.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="The group is none: its rows are outliers.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Another file for the model; else MODEL itself.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Say what a group is: from then on it is a known class. A known class gets another name.

    The model is written whole or not at all. To undo it, keep a copy: -o.

    Example: vbrand name found/model.vbrand "novel 1" oat
    """
    with sentences(debug=debug):
        from vbrand.estimators.variational import load

        given: dict[str, Any] = _names_in(names) if names is not None else {} if group is None else {group: label}
        if not given or (names is not None and group is not None):
            fail('give a group and its name, as in: vbrand name model.vbrand "novel 1" oat; or --from names.json.')
        if any(called is None for called in given.values()) and not forget:
            fail(f"what is {next(iter(given))}? Give its name, or --forget.")

        detector = load(model)
        for what, called in given.items():
            name, joins = (called["join"], True) if isinstance(called, dict) else (called, join)
            _say(detector, what, name, join=joins, forget=forget)
        detector.save(out or model, rows=detector.keeps_rows)
        typer.echo(visible(f"known classes: {', '.join(map(str, detector.classes_.tolist()))}."))


def events(model: _Model, debug: Debug = False) -> None:
    """Tell what became of groups, batch after batch.

    Example: vbrand events found/model.vbrand
    """
    with sentences(debug=debug):
        from vbrand.estimators.variational import load

        typer.echo(visible(str(load(model).events())))


def _say(detector: "VBrand", what: str, called: Any, *, join: bool, forget: bool) -> None:
    """Tell a detector what a group or class is."""
    if forget:
        detector.forget(what)
        return
    numbers = detector.classes_.dtype.kind == "i"
    label, own = (_number(text) if numbers else text for text in (called, what))
    if own in detector.classes_.tolist():
        detector.rename(own, label)
    elif join:
        detector.join(what, label)
    else:
        detector.name(what, label)


def _number(text: str) -> Any:
    """Return the whole number that a text is, or the text."""
    try:
        return int(text)
    except ValueError:
        return text


def _names_in(path: Path) -> dict[str, Any]:
    """Return names of groups from a file, {"join": name} for one that is part of a class; or refuse it."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        held = None
    if not isinstance(held, dict) or not all(map(_is_name, held.values())):
        fail(f'{path} holds no names; text such as {{"novel 1": "oat", "novel 2": {{"join": "rye"}}}} is expected.')
    return held


def _is_name(held: Any) -> bool:
    return isinstance(held, str) or (isinstance(held, dict) and [*held] == ["join"] and isinstance(held["join"], str))
