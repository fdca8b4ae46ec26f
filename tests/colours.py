"""Colours that everybody tells apart: their measures, and the search for the next one of a paper.

    python tests/colours.py bkb          # colours that a new family of that paper's algorithms may have
    python tests/colours.py bkb --hero   # for the algorithm that the paper is about: dark

A colour has a contrast with white of at least 3:1 (the hero's 7:1), and two families in the figures of one paper lie at
least a CIEDE2000 distance of 15 apart, for normal vision, deuteranopia and protanopia alike.
"""

import sys
from itertools import combinations, product

import numpy as np
from matplotlib.colors import to_hex, to_rgb

CONTRAST, CONTRAST_OF_HERO, TOLD_APART = 3.0, 7.0, 15.0
#: Linear RGB as seen without the middle or the long cones (Machado, Oliveira & Fernandes 2009, severity 1).
VISIONS = {
    "normal": np.eye(3),
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def linear(colour):
    """Linear RGB of a colour, or of rows of RGB (n, 3)."""
    rgb = np.array(to_rgb(colour) if isinstance(colour, str) else colour)
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast_with_white(colour):
    """Contrast of WCAG 2, 1 to 21."""
    return 1.05 / (linear(colour) @ TO_XYZ[1] + 0.05)


def lab(colour, vision):
    """CIELAB (D65) of colours as somebody with that vision sees them, coordinates first."""
    seen = np.clip(linear(colour) @ np.transpose(VISIONS[vision]), 0, 1)
    t = seen @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    x, y, z = np.moveaxis(np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116), -1, 0)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one, other):
    """Difference of CIELAB colours (Sharma, Wu & Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    c = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(c**7 / (c**7 + 25.0**7))
    p1, p2 = a1 * stretch + 1j * b1, a2 * stretch + 1j * b2
    h1, h2 = np.degrees(np.angle(p1)) % 360, np.degrees(np.angle(p2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180
    h, c, off = np.radians(h1 + turn / 2), (abs(p1) + abs(p2)) / 2, ((l1 + l2) / 2 - 50) ** 2
    t = 1 - 0.17 * np.cos(h - np.radians(30)) + 0.24 * np.cos(2 * h)
    t += 0.32 * np.cos(3 * h + np.radians(6)) - 0.2 * np.cos(4 * h - np.radians(63))
    dl = (l2 - l1) / (1 + 0.015 * off / np.sqrt(20 + off))
    dc = (abs(p2) - abs(p1)) / (1 + 0.045 * c)
    dh = 2 * np.sqrt(abs(p1) * abs(p2)) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * c * t)
    blue = np.radians(60 * np.exp(-(((np.degrees(h) % 360 - 275) / 25) ** 2)))
    twist = -2 * np.sqrt(c**7 / (c**7 + 25.0**7)) * np.sin(blue)
    return np.sqrt(dl**2 + dc**2 + dh**2 + twist * dc * dh)


def distance(one, other):
    """Smallest difference of two colours over the three visions; of rows of RGB (n, 3) each from its own."""
    return np.min([ciede2000(lab(one, vision), lab(other, vision)) for vision in VISIONS], axis=0)


def confused(looks):
    """Pairs of names that neither colour nor line style tells apart."""
    return [
        (a, b)
        for (a, (one, style)), (b, (other, its)) in combinations(looks.items(), 2)
        if style == its and distance(one, other) < TOLD_APART
    ]


def faults(hero, colours):
    """What is wrong with the colours in the figures of one paper, hero's among them, in words; empty if nothing is."""
    least = {colour: CONTRAST_OF_HERO if colour == hero else CONTRAST for colour in colours}
    pale = [f"{c}: contrast {contrast_with_white(c):.1f}" for c in least if contrast_with_white(c) < least[c]]
    near = [(one, other, distance(one, other)) for one, other in combinations(sorted(least), 2)]
    return pale + [f"{one} and {other}: distance {far:.1f}" for one, other, far in near if far < TOLD_APART]


def search(taken, hero=False, many=5):
    """The colours farthest from those that are taken, each with its distance to the nearest; the first is the best."""
    rgb = np.array(list(product(range(0, 256, 8), repeat=3))) / 255
    rgb = rgb[contrast_with_white(rgb) >= (CONTRAST_OF_HERO if hero else CONTRAST)]
    nearest = np.min([distance(rgb, np.broadcast_to(to_rgb(colour), rgb.shape)) for colour in taken], axis=0)
    return [(to_hex(rgb[i]), float(nearest[i])) for i in np.argsort(-nearest)[:many]]


def of_figures(paper, looks):
    """The colours in a paper's figures: of its own algorithms, and of those beside them."""
    return {*paper.families, *(looks[name][0] for name in paper.beside)}


if __name__ == "__main__":
    from kbrepro import papers

    for colour, far in search(of_figures(papers.found()[sys.argv[1]], papers.looks()), "--hero" in sys.argv):
        print(f"{colour}  {far:.1f} from the nearest")
