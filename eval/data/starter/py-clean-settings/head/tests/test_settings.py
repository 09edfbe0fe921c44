import pytest

from mailer.settings import MissingSetting, read_settings

WHOLE = {
    "MAIL_FROM": "shop@example.org",
    "MAIL_HOST": "smtp.example.org",
    "MAIL_USER": "shop",
    "MAIL_PASSWORD": "for tests",
}


def test_the_port_has_a_default():
    assert read_settings(WHOLE).port == 587


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_what_is_missing_is_named(name):
    rest = {key: value for key, value in WHOLE.items() if key != name}
    with pytest.raises(MissingSetting, match=name):
        read_settings(rest)


def test_the_password_is_not_shown():
    assert "for tests" not in repr(read_settings(WHOLE))
