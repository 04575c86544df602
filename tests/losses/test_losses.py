"""Losses of a margin: values, borders, kinks, conjugates."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hinge
from hinge.losses import Hinge, Huber, Loss, SquaredHinge, get_loss, loss_names

LOSSES = [*map(get_loss, loss_names()), Huber(h=0.125), Huber(h=0.9)]
MARGINS = st.floats(-1e3, 1e3)

each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)


def _at(function, number: float) -> float:
    return float(function(np.asarray([number]))[0])


@pytest.mark.parametrize(
    ("loss", "margin", "value", "slope"),
    [
        (Hinge(), -2.0, 3.0, -1.0),
        (Hinge(), 0.0, 1.0, -1.0),
        (Hinge(), np.nextafter(1.0, 0.0), 2.0**-53, -1.0),
        (Hinge(), 1.0, 0.0, 0.0),
        (Hinge(), np.nextafter(1.0, 2.0), 0.0, 0.0),
        (Hinge(), 5.0, 0.0, 0.0),
        (SquaredHinge(), -2.0, 9.0, -6.0),
        (SquaredHinge(), 0.5, 0.25, -1.0),
        (SquaredHinge(), 1.0, 0.0, 0.0),
        (SquaredHinge(), 7.0, 0.0, 0.0),
        (Huber(h=0.5), -1.0, 2.0, -1.0),
        (Huber(h=0.5), 0.5, 0.5, -1.0),
        (Huber(h=0.5), 1.0, 0.125, -0.5),
        (Huber(h=0.5), 1.5, 0.0, 0.0),
        (Huber(h=0.5), 2.0, 0.0, 0.0),
        (Huber(h=0.25), 0.75, 0.25, -1.0),
        (Huber(h=0.25), 1.0, 0.0625, -0.5),
        (Huber(h=0.25), 1.25, 0.0, 0.0),
    ],
)
def test_values_and_slopes(loss: Loss, margin: float, value: float, slope: float) -> None:
    assert _at(loss.value, margin) == value
    assert _at(loss.subgradient, margin) == slope


def test_at_the_kink_of_the_hinge_every_slope_between_counts() -> None:
    low, high = Hinge().subdifferential(np.asarray([np.nextafter(1.0, 0.0), 1.0, 1.5]))
    assert low.tolist() == [-1.0, -1.0, 0.0]
    assert high.tolist() == [-1.0, 0.0, 0.0]


@each_loss
def test_only_a_jump_has_more_than_one_slope(loss: Loss) -> None:
    margins = np.concatenate([np.linspace(-3, 4, 101), [kink.margin for kink in loss.kinks]])
    low, high = loss.subdifferential(margins)
    jumps = {kink.margin: kink.jump for kink in loss.kinks}
    wanted = [jumps.get(margin, 0.0) for margin in margins.tolist()]
    np.testing.assert_allclose(high - low, wanted, rtol=0, atol=1e-15)


@each_loss
def test_slopes_are_the_differences_of_values(loss: Loss) -> None:
    margins = np.linspace(-3.0, 4.0, 1001) + 1e-4
    step = 1e-6
    away = np.min(np.abs(margins[:, None] - [k.margin for k in loss.kinks]), axis=1) > 2 * step
    assert away.sum() > 900
    differences = (loss.value(margins + step) - loss.value(margins - step)) / (2 * step)
    np.testing.assert_allclose(
        loss.subgradient(margins)[away], differences[away], rtol=0, atol=1e-8
    )


@each_loss
def test_value_and_slope_are_continuous_where_no_jump_is_declared(loss: Loss) -> None:
    for kink in loss.kinks:
        before, after = kink.margin - 1e-9, kink.margin + 1e-9
        assert abs(_at(loss.value, before) - _at(loss.value, after)) <= 4e-9
        jump = _at(loss.subgradient, after) - _at(loss.subgradient, before)
        assert abs(jump - kink.jump) <= 1e-7
    assert loss.zero_from == loss.kinks[-1].margin
    assert _at(loss.value, loss.zero_from) == 0.0
    assert _at(loss.value, loss.zero_from - 1e-3) > 0.0


@each_loss
@given(first=MARGINS, second=MARGINS, share=st.floats(0, 1))
def test_losses_are_convex_and_do_not_increase(
    loss: Loss, first: float, second: float, share: float
) -> None:
    between = _at(loss.value, share * first + (1 - share) * second)
    chord = share * _at(loss.value, first) + (1 - share) * _at(loss.value, second)
    assert between <= chord * (1 + 1e-12) + 1e-12
    low, high = sorted([first, second])
    assert _at(loss.value, low) >= _at(loss.value, high)
    assert _at(loss.subgradient, low) <= _at(loss.subgradient, high) <= 0.0


@each_loss
def test_the_conjugate_is_the_largest_of_all_linear_differences(loss: Loss) -> None:
    margins = np.concatenate([np.linspace(-6, 6, 480_001), [k.margin for k in loss.kinks]])
    values = loss.value(margins)
    top = min(loss.dual_upper, 8.0)
    for slope in np.linspace(0.0, top, 33):
        brute = float(np.max(-slope * margins - values))
        assert abs(_at(loss.conjugate, slope) - brute) <= 1e-8


@each_loss
def test_the_conjugate_is_infinite_outside_its_domain(loss: Loss) -> None:
    assert _at(loss.conjugate, -1e-300) == np.inf
    assert _at(loss.conjugate, 0.0) == 0.0
    if np.isfinite(loss.dual_upper):
        assert np.isfinite(_at(loss.conjugate, loss.dual_upper))
        assert _at(loss.conjugate, np.nextafter(loss.dual_upper, 2.0)) == np.inf
    assert _at(loss.conjugate, np.nan) == np.inf


@each_loss
@given(margin=MARGINS, slope=st.floats(0, 2e3))
def test_fenchel_young(loss: Loss, margin: float, slope: float) -> None:
    lower_bound = -slope * margin - _at(loss.conjugate, slope)
    scale = 1.0 + abs(slope * margin) + slope * slope
    assert _at(loss.value, margin) >= lower_bound - 1e-12 * scale


@each_loss
@given(margin=MARGINS)
def test_fenchel_young_is_an_equality_at_every_subgradient(loss: Loss, margin: float) -> None:
    for slopes in loss.subdifferential(np.asarray([margin])):
        slope = -float(slopes[0])
        # Rounding may put the slope of a smooth loss an ulp outside its domain.
        slope = min(max(slope, 0.0), loss.dual_upper)
        gap = _at(loss.value, margin) + slope * margin + _at(loss.conjugate, slope)
        assert abs(gap) <= 1e-12 * (1.0 + abs(slope * margin) + slope * slope)


@each_loss
def test_margins_that_are_not_numbers_stay_visible(loss: Loss) -> None:
    assert np.isnan(_at(loss.value, np.nan))
    assert _at(loss.value, -np.inf) == np.inf
    assert _at(loss.value, np.inf) == 0.0


@each_loss
def test_upper_bounds_of_dual_coefficients(loss: Loss) -> None:
    bounds = loss.upper_bound(np.asarray([0.0, 5e-324, 1e-300, 1.0, 1e300]))
    assert bounds[0] == 0.0
    if np.isfinite(loss.dual_upper):
        assert bounds.tolist() == [0.0, 5e-324, 1e-300, 1.0, 1e300]
    else:
        assert np.isinf(bounds[1:]).all()


def test_losses_by_name() -> None:
    assert [type(get_loss(name)) for name in ("hinge", "squared_hinge", "huber")] == [
        Hinge,
        SquaredHinge,
        Huber,
    ]
    loss = Huber(h=0.25)
    assert get_loss(loss) is loss
    with pytest.raises(hinge.InvalidParameterError, match=r"got 'hing'\. Did you mean 'hinge'"):
        get_loss("hing")
    with pytest.raises(hinge.InvalidParameterError, match=r"loss must be one of .* got 3"):
        get_loss(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("h", [0.0, 1.0, -0.5, 2.0, float("nan"), float("inf"), "wide", None])
def test_huber_refuses_widths_outside_its_range(h: object) -> None:
    with pytest.raises(hinge.InvalidParameterError, match="h must"):
        Huber(h=h)  # type: ignore[arg-type]


def test_huber_losses_are_equal_by_width() -> None:
    assert Huber(0.25) == Huber(0.25)
    assert hash(Huber(0.25)) == hash(Huber(0.25))
    assert Huber(0.25) != Huber(0.5)
    assert Huber(0.25) != Hinge()
    assert pickle.loads(pickle.dumps(Huber(0.25))) == Huber(0.25)
