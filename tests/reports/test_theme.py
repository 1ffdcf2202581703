"""Colours: enough contrast for WCAG AA, and series that all kinds of colour vision tell apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from goodgain.reports.theme import DARK, LIGHT, Palette

PALETTES = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
VISIONS = {
    "usual": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    bright, dim = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (a, b))[::-1]
    return (bright + 0.05) / (dim + 0.05)


def lab(light: np.ndarray) -> np.ndarray:
    x = TO_XYZ @ np.clip(light, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@PALETTES
def test_texts_can_be_read(palette: Palette):
    for colour in (palette.text, palette.muted, palette.accent, palette.better, palette.worse):
        for behind in (palette.background, palette.surface):
            assert contrast(colour, behind) >= 4.5, (colour, behind)
    for behind, colour in (*palette.gains, palette.unknown):
        assert contrast(colour, behind) >= 4.5, (colour, behind)


@PALETTES
def test_marks_stand_out(palette: Palette):
    for colour in (*palette.series, palette.rule):
        assert contrast(colour, palette.background) >= 3, colour


@PALETTES
@pytest.mark.parametrize("vision", VISIONS)
def test_series_differ_for_every_vision(palette: Palette, vision: str):
    seen = [lab(np.array(VISIONS[vision]) @ linear(c)) for c in palette.series]
    nearest = min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2))
    assert nearest > 15  # CIE76; 2.3 is just noticeable


@PALETTES
def test_a_higher_gain_is_further_from_the_background(palette: Palette):
    steps = [contrast(colour, palette.background) for colour, _ in palette.gains]
    assert steps == sorted(steps)
    assert len(set(steps)) == len(steps)
