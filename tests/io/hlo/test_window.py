"""Windows: their text, and which taps meet an element."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybridalloc.io.hlo.window import WindowDimension, parse_window, valid_taps


def test_a_window_is_read_with_all_its_properties() -> None:
    text = "{size=3x2 stride=2x1 pad=1_-1x0_0 lhs_dilate=1x4 rhs_dilate=5x1}"
    assert parse_window(text) == (
        WindowDimension(3, stride=2, pad_low=1, pad_high=-1, window_dilation=5),
        WindowDimension(2, base_dilation=4),
    )


@pytest.mark.parametrize("text", ["{size=3x2 stride=2}", "{size=3 stride=0}"])
def test_an_impossible_window_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="window"):
        parse_window(text)


windows = st.builds(
    WindowDimension,
    size=st.integers(1, 6),
    stride=st.integers(1, 5),
    pad_low=st.integers(-4, 6),
    pad_high=st.just(0),
    base_dilation=st.integers(1, 5),
    window_dilation=st.integers(1, 4),
)


@given(windows, st.integers(0, 8), st.integers(0, 8))
def test_taps_are_those_that_trying_every_pair_finds(
    window: WindowDimension, inputs: int, outputs: int
) -> None:
    found = 0
    for output in range(outputs):
        for position in range(window.size):
            place = output * window.stride - window.pad_low
            place += position * window.window_dilation
            element, hole = divmod(place, window.base_dilation)
            found += hole == 0 and 0 <= element < inputs
    assert valid_taps(window, inputs, outputs) == found
