"""The groups as a table: text, and a data frame."""

from dataclasses import replace

from vbrand.discovery.summary import Summary


def test_the_summary_has_a_line_for_each_group_and_then_explanations_and_notes(grain_found):
    lines = str(grain_found.summary()).splitlines()
    assert lines.pop(0) == str(grain_found.check)
    assert lines[0].split() == ["group", "rows", "weight", "P(novel)", "kind"]
    assert [line.split()[0] for line in lines[1:4]] == ["oat", "rye", "novel"]
    assert lines[4].startswith("novel 1: nearest known class: oat")
    assert tuple(lines[-len(grain_found.notes) :]) == grain_found.notes
    assert repr(grain_found.summary()) == str(grain_found.summary())


def test_columns_of_the_summary_stand_below_their_names(grain_found):
    long = tuple(replace(group, name=group.name * 9, rows=1_234_567) for group in grain_found.groups)
    _, head, *lines = str(Summary(long, ())).splitlines()[:5]
    for name in ("rows", "weight", "P(novel)"):
        end = head.index(name) + len(name)
        assert all(line[end - 1] != " " and line[end] == " " for line in lines)


def test_the_summary_is_a_table_too(grain_found):
    frame = grain_found.summary().to_frame()
    assert frame["group"].tolist() == ["oat", "rye", "novel 1"]
    assert frame["rows"].tolist() == [30, 0, 30]
    assert frame["kind"].tolist() == ["known class", "known class", "novel group"]
    assert frame.index.tolist() == [0, 1, 2]
