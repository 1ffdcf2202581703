"""Formatting of numbers: p-values, stars, signed differences, shares."""

from __future__ import annotations

THRESHOLDS = (0.001, 0.01, 0.05)
BETTER, WORSE = "*", "†"  # told apart by their shape, since colours are not always seen
NOT_SIGNIFICANT = "ns"
STARS = (
    f"{3 * BETTER} p < 0.001, {2 * BETTER} p < 0.01, {BETTER} p < 0.05: better; "
    f"{3 * WORSE}, {2 * WORSE}, {WORSE}: worse"
)


def stars(p: float | None, improvement: float = 1.0) -> str:
    """Three marks below 0.001, two below 0.01, one below 0.05, else ns; nothing without a p-value.

    The marks are * for an improvement and † for the opposite.
    """
    if p is None:
        return ""
    mark = BETTER if improvement > 0 else WORSE if improvement < 0 else ""
    for count, threshold in zip((3, 2, 1), THRESHOLDS, strict=True):
        if mark and p < threshold:
            return count * mark
    return NOT_SIGNIFICANT


def p_text(p: float | None, *more: float) -> str:
    """A p-value as text: never 0, and never rounded across a threshold or one of `more`."""
    if p is None:
        return "-"
    if p < 1e-4:
        return "<1e-4"
    if 0.9999 < p < 1:
        return ">0.9999"
    for digits in range(4, 18):
        text = f"{p:.{digits}f}"
        if all((float(text) < t) == (p < t) for t in (*THRESHOLDS, *more)):
            return text
    return repr(p)


def signed(value: float | None, digits: int = 4) -> str:
    """A difference with its sign; a non-zero difference is never shown as 0."""
    if value is None or value != value:
        return "-"
    text = f"{value:+.{digits}f}"
    if float(text) == 0:
        return "0" if value == 0 else f"{value:+.1e}"
    return text


def percent(value: float | None) -> str:
    """A relative change as a percentage."""
    return "-" if value is None else "0%" if value == 0 else f"{100 * value:+.1f}%"


def hundredths(share: float) -> str:
    """A share in percent, without the sign: never rounded to a false 0 or 100."""
    if share != share:
        return "-"
    text = f"{100 * share:.1f}"
    if text == "100.0" and share < 1 - 1e-12:
        return "99.9"
    if float(text) == 0:
        return "0.0" if abs(share) < 1e-12 else f"{100 * share:.1e}"
    return text


def interval(pair: tuple[float, float] | None) -> str:
    """A confidence interval in brackets."""
    return "-" if pair is None else f"[{signed(pair[0])}, {signed(pair[1])}]"


def decimals(*values: float | None) -> int:
    """How many decimals show three digits of values of this size: 0.614, 12.35, 1,234."""
    largest = max((abs(v) for v in values if v is not None and v == v), default=0.0)
    return 3 if largest < 10 else 2 if largest < 100 else 1 if largest < 1000 else 0


_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
_CURRENCIES = {"usd": "$", "eur": "€", "gbp": "£"}


def amount(value: float | None, unit: str) -> str:
    """A number with its unit, as people write it: 48 ms, 1.25 s, $0.0031, 1,234 tokens."""
    if value is None or value != value:
        return "-"
    if unit in _SECONDS:
        return _duration(_SECONDS[unit] * value)
    if unit in _CURRENCIES:
        return f"{'-' if value < 0 else ''}{_CURRENCIES[unit]}{_digits(abs(value))}"
    return f"{_digits(value)} {unit}".strip() if unit not in ("", "cost") else _digits(value)


def _duration(seconds: float) -> str:
    size = abs(seconds)
    if size and size < 0.001:
        return f"{_digits(1000 * seconds)} ms"
    if size < 0.01:
        return f"{1000 * seconds:.1f} ms"
    if size < 1:
        return f"{1000 * seconds:.0f} ms"
    return f"{_digits(seconds)} s"


def _digits(value: float) -> str:
    """Three digits, with commas between thousands; a small number keeps two that count."""
    if value == 0:
        return "0"
    if abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:,.{max(0, decimals(value) - (abs(value) >= 1))}f}"
