from __future__ import annotations

import pytest

from sessions.notifications.push_crypto import (
    VapidKey,
    encrypt_for,
    from_base64url,
    new_private,
    read_private,
    read_public,
    to_base64url,
)


def test_it_encrypts_as_the_example_of_rfc_8291() -> None:
    key = read_private("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
    sealed = encrypt_for(
        b"When I grow up, I want to be a watermelon",
        public=(
            "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIA"
            "iw4"
        ),
        auth="BTBZMqHH6r4Tts7J_aSIgg",
        private=key.private,
        salt=from_base64url("DGv6ra1nlYgDCS1FRnbzlw"),
    )
    assert to_base64url(sealed) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmY"
        "WAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexS"
        "gSxsj_Qulcy4a-fN"
    )


def test_a_key_is_read_as_it_was_made() -> None:
    private = new_private()
    key = read_private(private)
    assert len(from_base64url(key.public)) == 65
    assert private not in repr(key)
    assert isinstance(key, VapidKey)


@pytest.mark.parametrize("text", ["", "x", "%%%%", "AAAA", "B" * 87])
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_public(text)
    with pytest.raises(ValueError, match=r".*"):
        read_private(text)
