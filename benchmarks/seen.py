"""Lines of the tables in SECURITY.md: what a long run has seen, written by the run itself."""

import os
import re
import subprocess
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "SECURITY.md"


def seen(table: str, name: str, *cells: str) -> None:
    """Write the line of a table that begins with a name, in place of the one that is there, or after the others."""
    marks = f"<!-- written by {table} -->\n\n", f"\n\n<!-- end of {table} -->"
    before, lines, after = re.split(f"(?<={marks[0]})(.*?)(?={marks[1]})", PAGE.read_text(), flags=re.DOTALL)
    kept, line = lines.splitlines(), f"| {' | '.join((name, *cells, state()))} |"
    at = next((k for k, each in enumerate(kept) if each.startswith(f"| {name} |")), len(kept))
    kept[at : at + 1] = [line]
    half = PAGE.with_name(f".{PAGE.name}.{os.getpid()}")
    half.write_text(before + "\n".join(kept) + after)
    half.replace(PAGE)


def state() -> str:
    """Return the commit that is looked at."""
    told = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=PAGE.parent, capture_output=True, text=True)
    return told.stdout.strip() or "no repository"
