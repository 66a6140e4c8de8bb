"""Real numbers as distributions."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from hybridalloc.agents.muzero.config import NetworkConfig, SupportConfig
from hybridalloc.agents.muzero.support import Support, restore, transform

CONFIGS = st.builds(
    SupportConfig,
    bins=st.integers(1, 60).map(lambda x: 2 * x + 1),
    most=st.floats(0.1, 100),
    unit=st.floats(0.01, 10),
)
SHARES = st.lists(st.floats(-1.5, 1.5, width=32), min_size=1, max_size=20)
"""Of the largest number that can be told."""


@given(CONFIGS, SHARES)
def test_what_is_encoded_is_decoded_to_the_nearest_number_within_the_limits(
    config: SupportConfig, shares: list[float]
) -> None:
    support = Support(config)
    values = torch.tensor(shares) * config.most
    found = support.decode(support.encode(values).log())
    inside = values.clamp(-config.most, config.most)
    assert found.tolist() == pytest.approx(inside.tolist(), abs=1e-5 * config.most)


@given(CONFIGS, SHARES)
def test_a_number_is_shared_between_two_neighbours(
    config: SupportConfig, shares: list[float]
) -> None:
    encoded = Support(config).encode(torch.tensor(shares) * config.most)
    assert encoded.min() >= 0
    assert encoded.sum(-1).tolist() == pytest.approx([1.0] * len(shares))
    for row in encoded:
        first, *others = row.nonzero().flatten().tolist()
        assert others in ([], [first + 1])


@given(CONFIGS)
def test_the_numbers_rise_from_the_least_by_way_of_nothing_to_the_largest(
    config: SupportConfig,
) -> None:
    numbers = Support(config).numbers
    assert len(numbers) == config.bins
    assert (numbers.diff() > 0).all()
    assert numbers[config.bins // 2] == 0
    assert numbers.tolist() == pytest.approx((-numbers.flip(0)).tolist())
    assert float(numbers[-1]) == pytest.approx(config.most)


@given(st.floats(-1e4, 1e4))
def test_the_transform_can_be_undone(x: float) -> None:
    given_one = torch.tensor(x, dtype=torch.float64)
    assert float(restore(transform(given_one))) == pytest.approx(x, abs=1e-6)


@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(0, 1))
def test_the_mean_of_two_distributions_is_the_mean_of_what_they_stand_for(
    one: float, other: float, share: float
) -> None:
    support = Support(NetworkConfig().value)
    encoded = support.encode(torch.tensor([one, other]))
    mixed = (share * encoded[0] + (1 - share) * encoded[1]).log()
    mean = share * one + (1 - share) * other
    assert float(support.decode(mixed)) == pytest.approx(mean, abs=1e-5)


@pytest.mark.parametrize("sizes", [(4, 1, 1), (1, 1, 1), (3, 0, 1), (3, 1, -1)])
def test_impossible_supports_are_refused(sizes: tuple[int, float, float]) -> None:
    with pytest.raises(ValueError, match="support: "):
        SupportConfig(*sizes)
