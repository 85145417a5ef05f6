"""What `vbrand` on the command line runs: the commands, or one sentence if what they are made of is not installed."""

import sys


def main() -> None:
    """Run the commands."""
    try:
        from vbrand.commands.cli import app
    except ModuleNotFoundError as error:
        if error.name not in {"typer", "rich"}:
            raise
        print(
            f"vbrand: the commands need {error.name}, which is not installed. Install it with them: "
            "pip install 'vbrand[all]'. The Python package works without.",
            file=sys.stderr,
        )
        sys.exit(2)
    app()
