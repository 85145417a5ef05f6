"""What the commands say: errors as one sentence with an exit code, answers as a table."""

import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest
import typer
from calls import call
from doubts import doubted, unchecked
from tables import grain_rows
from typer.testing import CliRunner

from vbrand.commands.cli import app
from vbrand.commands.terminal import bar, sentences, show, stages
from vbrand.facts.check import UNCHECKED


@pytest.mark.parametrize(
    ("error", "sentence", "code"),
    [
        (ValueError("threshold is 7."), "threshold is 7.", 2),
        (ImportError("reports need jinja2"), "reports need jinja2", 2),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), "there is no file a.csv.", 2),
        (
            OSError(28, "No space left on device", "out/labels.csv"),
            "there is no space left on the disk of out/labels.csv. Free some, or use another.",
            2,
        ),
        (OSError("can't be downloaded"), "can't be downloaded", 2),
        (MemoryError("80 GB"), "there is not enough memory: 80 GB.", 2),
        (KeyboardInterrupt(), "stopped; nothing that was there before is lost.", 130),
        (
            KeyError("x"),
            "vbrand failed (KeyError: 'x'). This is a bug in vbrand; --debug shows where.",
            1,
        ),
    ],
)
def test_an_error_is_one_sentence_and_an_exit_code(error, sentence, code, capsys):
    with pytest.raises(typer.Exit) as caught, sentences():
        raise error
    assert caught.value.exit_code == code
    assert capsys.readouterr().err == f"{sentence}\n"


def test_with_debug_errors_come_through():
    with pytest.raises(KeyError, match="x"), sentences(debug=True):
        raise KeyError("x")


def test_an_exit_keeps_its_code():
    with pytest.raises(typer.Exit) as caught, sentences():
        raise typer.Exit(7)
    assert caught.value.exit_code == 7


def test_a_reader_that_has_had_enough_is_no_error():
    code = """
import typer
from vbrand.commands.terminal import sentences
def main():
    with sentences():
        print("x" * 10)
        raise BrokenPipeError
typer.run(main)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_table_shows_every_group_and_what_it_mostly_is(grain_found, capsys):
    show(grain_found.facts(truth=grain_rows()[3], scores=(("ARI", 0.5),)))
    printed = capsys.readouterr().out
    lines = [line.split() for line in printed.splitlines()]
    assert lines[0] == str(grain_found.check).split()
    assert lines[1] == repr(grain_found).split()
    assert [cell for cell in by_name(lines, "oat") if "." not in cell] == [
        "oat",
        "known",
        "class",
        "30",
        "oat",
        "(100%)",
    ]
    assert by_name(lines, "rye")[:4] == ["rye", "known", "class", "0"]
    assert by_name(lines, "rye")[-2:] == ["-", "-"]
    assert "novel 1: nearest known class: oat" in printed
    assert "ARI 0.500" in printed
    for note in grain_found.notes:
        assert note in printed


def test_an_answer_that_was_not_checked_says_so_first(grain_found, capsys):
    show(unchecked(grain_found.facts()))
    assert capsys.readouterr().out.splitlines()[0] == UNCHECKED


def test_a_doubtful_group_is_called_so_in_the_headline_and_in_its_line(grain_found, capsys):
    show(doubted(grain_found.facts()))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("30 rows are called novel; about 12 of them (1 to 30) are likely known; about 3 novel")
    assert lines[0].endswith("likely missed. Doubtful: novel 1. Too few labelled rows to check: rye.")
    assert [line.split()[2:6] for line in lines if line.startswith("  novel 1 ")] == [
        ["novel", "group,", "doubtful", "30"]
    ]
    assert not any("doubtful" in line for line in lines if line.startswith(("  oat ", "  rye ")))


def by_name(lines, name):
    return next(line for line in lines if line[:1] == [name])


def test_names_are_no_markup_of_the_terminal(grain_found, capsys):
    facts = grain_found.facts()
    named = tuple(replace(group, name=f"[red]{k}[/red]") for k, group in enumerate(facts.groups))
    show(replace(facts, groups=named, sentence="[bold]x[/bold]", notes=("[dim]y",)))
    printed = capsys.readouterr().out
    for text in ("[red]0[/red]", "[red]2[/red]", "[bold]x[/bold]", "[dim]y"):
        assert text in printed


@pytest.mark.parametrize("quiet", [True, False])
def test_where_there_is_no_terminal_nothing_is_shown_of_what_is_being_done(quiet, capsys):
    with stages(quiet=quiet)("reading"):
        pass
    assert capsys.readouterr() == ("", "")


def test_the_bar_is_on_standard_error(capsys):
    with bar("ss1", 4.0) as told:
        told(1.0)
        told(3.0)
    out, err = capsys.readouterr()
    assert out == ""
    assert "ss1" in err
    assert "100%" in err


def test_a_defect_is_told_from_an_error_and_shown_on_demand(answered, monkeypatch):
    def broken(*_):
        raise RuntimeError("unheard of")

    monkeypatch.setattr("vbrand.io.tables.material.read_unknown", broken)
    done = call("predict", answered / "out" / "model.vbrand", answered / "test.csv")
    assert done.exit_code == 1
    assert "RuntimeError: unheard of" in done.stderr
    shown = CliRunner().invoke(app, ["predict", str(answered / "out" / "model.vbrand"), "x.csv", "--debug"])
    assert isinstance(shown.exception, RuntimeError)


def test_names_can_not_steer_the_terminal(tmp_path):
    """Escape sequences in a column or class name could clear the screen, rename the window or hide what follows."""
    evil = "oat\x1b[2J\x9b31m\u202e\x07"
    known, labels, new, _ = grain_rows()
    names = [evil if label == "oat" else label for label in labels]
    columns = ["a\x1b]0;x", "b", "c"]
    pd.DataFrame(known, columns=columns).assign(variety=names).to_csv(tmp_path / "train.csv", index=False)
    pd.DataFrame(new, columns=columns).to_csv(tmp_path / "test.csv", index=False)
    arguments = ("discover", tmp_path / "train.csv", tmp_path / "test.csv", "-o", tmp_path / "out")
    for more in (["--label", "variety"], ["--label", "variety", "--json"], ["--label", "no\x1b[2J"]):
        done = call(*arguments, *more)
        assert done.exit_code == (2 if "no\x1b[2J" in more else 0)
        assert not set(done.output) & {"\x1b", "\x9b", "\x07"}
        assert "--json" in more or "\u202e" not in done.output
