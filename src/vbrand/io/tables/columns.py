"""Which columns of a table are measured, and what is to be said of those that are not."""

from vbrand.io.tables.frames import Frame, TableError, listed


def measured(known: Frame, roles: set[str]) -> tuple[list[str], list[str]]:
    """Return the columns that are measured, and notes on what was left out or looks as if it should be."""
    notes = list[str]()
    others = [name for name in known.columns if name not in roles]
    columns = [name for name in others if name in known.numeric or name in known.mixed]
    empty = [name for name in others if name in known.empty]
    told_apart = {*columns, *empty}
    text = [name for name in others if name not in told_apart]
    counters, growing = known.numbered([name for name in columns if name not in known.mixed])
    if len(counters) == len(columns):
        counters = []

    for names, why in ((text, "text"), (empty, "empty"), (counters, "they only count the rows")):
        if names:
            notes.append(f"columns that were not measured, because {why}: {listed(names)}.")
    if growing:
        notes.append(
            f"{listed(growing)}: whole numbers that only grow from row to row. If they are names of rows, say so: "
            f"--id '{growing[0]}'."
        )

    left_out = set(counters)
    columns = [name for name in columns if name not in left_out]
    if not columns:
        raise TableError(f"{known.name} has no column of numbers beside the label and what is left out.")
    return columns, notes


def want_columns(frame: Frame, columns: list[str], who: str) -> None:
    """Refuse a table that lacks columns."""
    there = set(frame.columns)
    missing = [name for name in columns if name not in there]
    if missing:
        raise TableError(
            f"{frame.name} has no column {listed(missing)}, {who}. Columns are matched by name, in any order."
        )
