"""Options that several commands have."""

import pytest
import typer

from vbrand.commands.options import want_folder


def test_a_file_is_no_folder(tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    want_folder(tmp_path)
    want_folder(tmp_path / "new")
    with pytest.raises(typer.Exit):
        want_folder(tmp_path / "file")
    assert "is a file" in capsys.readouterr().err
