"""Numbers in LIBSVM text have the bits of the correctly rounded decimal, in both types."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hinge.data import read_libsvm


def read_values(folder: Path, decimals: list[str], dtype: type) -> np.ndarray:
    """Return the values of these decimals as the reader gives them."""
    lines = []
    for begin in range(0, len(decimals), 1000):
        some = decimals[begin : begin + 1000]
        lines.append("1 " + " ".join(f"{k}:{d}" for k, d in enumerate(some, start=1)))
    path = folder / "numbers.svm"
    path.write_text("\n".join(lines))
    values = read_libsvm(path, dtype=dtype)[0].data
    assert len(values) == len(decimals)
    return values


def nearest_float32(decimal: str) -> np.float32:
    """Return the float32 nearest to a decimal, ties to even, by exact arithmetic."""
    exact = Fraction(decimal)
    guess = np.float32(float(decimal))
    around = [np.nextafter(guess, np.float32(side)) for side in (-np.inf, np.inf)]
    candidates = [guess, *(value for value in around if np.isfinite(value))]
    return min(candidates, key=lambda v: (abs(Fraction(float(v)) - exact), v.view(np.int32) & 1))


def expected_float32(decimals: list[str]) -> np.ndarray:
    """Return the nearest float32 of each; exact arithmetic only where rounding twice may differ."""
    doubles = np.asarray([float(decimal) for decimal in decimals])
    rounded = doubles.astype(np.float32)
    # Rounding to double first can only hide on which side of a halfway point the decimal lies. For
    # subnormal numbers these points have other bits, so that all of them are looked at.
    is_halfway = doubles.view(np.int64) & (2**29 - 1) == 2**28
    is_tiny = np.abs(doubles) < np.finfo(np.float32).tiny
    for k in np.flatnonzero(is_halfway | is_tiny):
        rounded[k] = nearest_float32(decimals[k])
    return rounded


def random_decimals(seed: int, count: int) -> list[str]:
    """Return decimals of every length and size, and shortest decimals of random doubles."""
    draw = np.random.default_rng(seed)
    decimals = []
    for _ in range(count // 4):
        digits = str(draw.integers(10**18))[: draw.integers(1, 19)]
        point = int(draw.integers(len(digits) + 1))
        decimals.append(f"{digits[:point]}.{digits[point:]}")
        decimals.append(f"{digits}e{draw.integers(-30, 15)}")
    bits = draw.integers(0, 2**64, count // 4, dtype=np.uint64)
    doubles = bits.view(np.float64)
    decimals += [repr(value) for value in doubles[np.isfinite(doubles)].tolist()]
    units = draw.random(count - len(decimals)).tolist()
    return decimals + [f"{value:.{17 + k % 9}g}" for k, value in enumerate(units)]


def same_bits(got: np.ndarray, want: np.ndarray) -> bool:
    return got.dtype == want.dtype and got.tobytes() == want.tobytes()


def test_a_million_numbers_as_float64(tmp_path: Path, seed: int) -> None:
    decimals = random_decimals(seed, 1_000_000)
    assert len(decimals) == 1_000_000
    got = read_values(tmp_path, decimals, np.float64)
    assert same_bits(got, np.asarray([float(decimal) for decimal in decimals]))


def test_numbers_as_float32_are_rounded_once(tmp_path: Path, seed: int) -> None:
    decimals = [d for d in random_decimals(seed, 300_000) if abs(float(d)) < 3.4e38]
    draw = np.random.default_rng(seed)
    # Next to points halfway between two numbers of float32, where rounding twice goes wrong.
    halves = draw.integers(2**23, 2**24, 3000) * 2 + 1
    decimals += [f"{h}.00000000000000000000000000001" for h in halves.tolist()]
    decimals += [f"{h - 1}.99999999999999999999999999999" for h in halves.tolist()]
    decimals += [str(h) for h in halves.tolist()]
    got = read_values(tmp_path, decimals, np.float32)
    want = expected_float32(decimals)
    assert same_bits(got, want)
    twice = np.asarray([float(d) for d in decimals]).astype(np.float32)
    assert not same_bits(twice, want), "the test must have numbers that tell the two apart"


def halfway_decimals() -> list[str]:
    """Return exact decimals of points halfway between doubles, and their close neighbours."""
    draw = np.random.default_rng(0)
    bits = draw.integers(0, 2**63 - 2**53, 300, dtype=np.uint64)
    lower = np.concatenate([bits.view(np.float64), [5e-324, 2.2250738585072009e-308, 1.0, 2.0**53]])
    decimals = []
    for value in lower[np.isfinite(lower)].tolist():
        upper = np.nextafter(value, np.inf)
        middle = (Fraction(value) + Fraction(float(upper))) / 2
        digits, exponent = _decimal_digits(middle)
        longer = ("", "0", "1", "0" * 60 + "1")
        decimals += [f"{digits}{last}e{exponent - len(last)}" for last in longer]
        decimals.append(f"{int(digits) - 1}{'9' * 40}e{exponent - 40}")
    return decimals


def _decimal_digits(value: Fraction) -> tuple[str, int]:
    """Return digits and exponent of a fraction whose denominator is a power of two."""
    twos = value.denominator.bit_length() - 1
    return str(value.numerator * 5**twos), -twos


def test_points_halfway_between_doubles(tmp_path: Path) -> None:
    decimals = halfway_decimals()
    assert max(map(len, decimals)) > 750
    got = read_values(tmp_path, decimals, np.float64)
    assert same_bits(got, np.asarray([float(decimal) for decimal in decimals]))


@pytest.mark.parametrize(
    "decimal",
    [
        "0", "-0", "+0.0", "0e5", "0.0e-999999", "00000000000000000000000000000.0",
        "4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
        "2.2250738585072011e-308", "2.2250738585072014e-308", "2.225073858507201136e-308",
        "1.7976931348623157e308", "1.797693134862315807e308", "179769313486231570000e288",
        "9007199254740993", "9007199254740992.5", "9007199254740993.0000000000000000001",
        "18446744073709551615", "18446744073709551616", "9999999999999999999",
        "10000000000000000000",
        "0." + "0" * 400 + "1", "1" + "0" * 300, "0." + "0" * 1000 + "1e1000",
        "1" + "0" * 1000 + "e-1000", "123456789" * 200 + "e-1790", "0." + "3" * 900,
        "8.5e-5", "1.5", ".5", "5.", "12345678", "123456789", "1234567812345678",
        "0.1234567812345678",
    ],
)  # fmt: skip
def test_notable_numbers(tmp_path: Path, decimal: str) -> None:
    got = read_values(tmp_path, [decimal], np.float64)
    assert same_bits(got, np.asarray([float(decimal)]))
    if abs(float(decimal)) < 3.4e38:
        single = read_values(tmp_path, [decimal], np.float32)
        assert single[0] == nearest_float32(decimal)


def test_exponents_beyond_any_integer(tmp_path: Path) -> None:
    got = read_values(tmp_path, ["-1e-1" + "0" * 30, "0e1" + "0" * 30], np.float64)
    assert same_bits(got, np.asarray([-0.0, 0.0]))


digits = st.text("0123456789", max_size=40)
decimals = st.builds(
    lambda sign, a, point, b, e: f"{sign}{a}{point}{b}{e}",
    st.sampled_from(["", "-", "+"]),
    digits,
    st.sampled_from(["", "."]),
    digits,
    st.one_of(
        st.just(""), st.builds("{}{}".format, st.sampled_from(["e", "E-"]), st.integers(0, 360))
    ),
).filter(lambda text: any(c.isdigit() for c in text.lower().split("e")[0]))


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(decimals, min_size=1, max_size=30))
def test_any_decimal(tmp_path: Path, texts: list[str]) -> None:
    finite = [text for text in texts if np.isfinite(float(text))]
    if finite:
        got = read_values(tmp_path, finite, np.float64)
        assert same_bits(got, np.asarray([float(text) for text in finite]))
