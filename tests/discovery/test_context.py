"""What a discovery is about."""

from dataclasses import replace

from vbrand.trust.drift import Drift


def test_classes_that_have_moved_are_named_with_their_distance(grain_found):
    context = grain_found.context
    assert context.moved == {}
    assert replace(context, drifts=(Drift(1, 20, 0.75),)).moved == {"rye": 0.75}
    assert context.classes.tolist() == ["oat", "rye"]
