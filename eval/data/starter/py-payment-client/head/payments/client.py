"""The payment provider."""

import time

import requests

URL = "https://api.pay.example/v2"
ATTEMPTS = 3


class PaymentError(Exception):
    """The provider did not do what it was asked."""


def charge(cents: int, customer_id: int, key: str) -> str:
    """Charges a customer; gives the id of the charge. The key makes repeats harmless."""
    response = post("/charges", {"customer": customer_id, "amount": cents}, key)
    return response.json()["id"]


def post(path: str, body: dict, key: str) -> requests.Response:
    """Sends a request, and sends it again when the provider fails."""
    for attempt in range(1, ATTEMPTS + 1):
        response = requests.post(
            f"{URL}{path}", json=body, headers={"Idempotency-Key": key}, timeout=10
        )
        if response.status_code < 400:
            return response
        if response.status_code > 500 and attempt < ATTEMPTS:
            time.sleep(2**attempt)
            continue
        raise PaymentError(f"{response.status_code}: {response.text}")
    raise PaymentError("no attempt was made")
