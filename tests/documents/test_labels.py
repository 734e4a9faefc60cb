"""Labels stay apart from each other and inside the axes, wherever there is room."""

import matplotlib as mpl
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from decorrupt.documents.figures import STYLE
from decorrupt.documents.labels import annotate_points


def boxes(points, size=(5.0, 4.0)):
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.set(xlim=(0, 1), ylim=(0, 1))
        annotate_points(axes, points)
        figure.draw_without_rendering()
        labels = [child for child in axes.get_children() if isinstance(child, Annotation)]
        return [label.get_window_extent() for label in labels], axes.bbox


@settings(max_examples=20)
@given(st.lists(st.tuples(*2 * [st.floats(0.3, 0.7)]), min_size=2, max_size=4))
def test_few_labels_never_overlap(places):
    found, frame = boxes([(x, y, f"point {k}") for k, (x, y) in enumerate(places)])
    assert len(found) == len(places)
    for k, one in enumerate(found):
        assert frame.x0 <= one.x0
        assert one.x1 <= frame.x1
        for other in found[:k]:
            assert not one.overlaps(other)


def test_a_label_at_the_right_edge_goes_to_the_left():
    (box,), frame = boxes([(0.99, 0.5, "a long label")])
    assert box.x1 < frame.x0 + 0.99 * frame.width


@settings(max_examples=20)
@given(st.lists(st.tuples(*2 * [st.floats(0.05, 0.95)]), min_size=1, max_size=8))
def test_labels_stay_inside_the_axes_however_many_there_are(places):
    found, frame = boxes([(x, y, "a name of some length") for x, y in places])
    for box in found:
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1


def test_where_there_is_no_room_labels_stand_all_the_same():
    points = [(0.5, 0.5, "the same place " * 3) for _ in range(12)]
    found, _ = boxes(points, (2.0, 1.0))
    assert len(found) == 12
    assert np.isfinite([box.x0 for box in found]).all()
