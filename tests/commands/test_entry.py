"""The commands without what they are made of: one sentence."""

import sys

import pytest

from vbrand.commands.entry import main


def test_a_missing_extra_is_named(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("vbrand.commands.") and not name.endswith("entry")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    said = capsys.readouterr().err
    assert "typer" in said
    assert "pip install 'vbrand[all]'" in said
