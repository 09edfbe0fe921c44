from datetime import date
from decimal import Decimal

import pytest

from billing.periods import Period
from billing.proration import prorated

JUNE = Period(date(2025, 6, 1), date(2025, 6, 30))


def test_a_day_outside_is_refused():
    with pytest.raises(ValueError):
        prorated(Decimal("9.00"), JUNE, date(2025, 7, 1))


def test_later_costs_less():
    early = prorated(Decimal("30.00"), JUNE, date(2025, 6, 2))
    late = prorated(Decimal("30.00"), JUNE, date(2025, 6, 20))
    assert late < early
