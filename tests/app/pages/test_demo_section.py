"""Images as SVG."""

import re

import numpy as np

from decorrupt.app.pages.demo_section import GAP, LEVELS, draw_images


def painted(svg, shape):
    """Return the image that the rectangles of an SVG paint, by a reading of its own."""
    canvas = np.zeros(shape)
    for opacity, path in re.findall(r'fill-opacity="([^"]+)" d="([^"]*)"', svg):
        for x, y, width, back in re.findall(r"M(\d+) (\d+)h(\d+)v1H(\d+)z", path):
            assert back == x
            canvas[int(y), int(x) : int(x) + int(width)] += float(opacity)
    return canvas


def test_every_pixel_has_its_grey_level_and_is_painted_once():
    images = np.random.default_rng(0).integers(0, LEVELS + 1, (11, 4, 5)).astype(float)
    images[0, 0, 0] = LEVELS
    svg = draw_images(images, "bag", "A <bag>", "1 × a & 2 × b")
    canvas = painted(svg, (2 * 4 + GAP, 8 * 5 + 7 * GAP))
    for place, image in enumerate(images):
        top, left = place // 8 * (4 + GAP), place % 8 * (5 + GAP)
        np.testing.assert_allclose(canvas[top : top + 4, left : left + 5], image / LEVELS)
    assert canvas.sum() == images.sum() / LEVELS
    assert "A &lt;bag&gt;" in svg
    assert "1 × a &amp; 2 × b" in svg
