"""Paying for subscriptions, once a month."""

import logging
from datetime import date

from payments.client import PaymentError, charge
from payments.models import Subscription

log = logging.getLogger(__name__)


def renew(subscription: Subscription, today: date) -> None:
    key = f"renewal-{subscription.id}-{today:%Y-%m}"
    try:
        charge(subscription.customer_id, subscription.price_cents, key)
    except PaymentError as error:
        log.warning("renewal of %s failed: %s", subscription.id, error)
    subscription.paid_until = subscription.next_due(today)
    subscription.save()
