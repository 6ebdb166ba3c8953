from __future__ import annotations

import base64
import re
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from opencode_web.lib.errors import Invalid
from teams.identity import discovery
from teams.identity.discovery import read_metadata
from teams.models import IdentityProvider, IdentityRule, Membership, Role, Team, User
from tests.teams.identity.idp import is_signed_in, make_key

utils = pytest.importorskip("onelogin.saml2.utils").OneLogin_Saml2_Utils
pytestmark = pytest.mark.django_db

IDP = "https://idp.corp.example"
ACS = "http://testserver/sso/corp/acs"
SP = "http://testserver/sso/corp/metadata"
_NS = 'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"'


KEY, CERTIFICATE = make_key()
METADATA = f"""<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="{IDP}">
<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
<KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data>
<X509Certificate>{"".join(CERTIFICATE.splitlines()[1:-1])}</X509Certificate>
</X509Data></KeyInfo></KeyDescriptor>
<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
 Location="{IDP}/sso"/></IDPSSODescriptor></EntityDescriptor>"""


def answer(request_id: str, *, key: str = KEY, audience: str = SP, minutes: int = 5) -> str:
    def at(shift: int) -> str:
        return (datetime.now(UTC) + timedelta(minutes=shift)).strftime("%Y-%m-%dT%H:%M:%SZ")

    attributes = {
        "urn:oid:0.9.2342.19200300.100.1.3": "eve@corp.example",
        "groups": "developers",
    }
    stated = "".join(
        f'<saml:Attribute Name="{name}"><saml:AttributeValue>{value}</saml:AttributeValue>'
        "</saml:Attribute>"
        for name, value in attributes.items()
    )
    assertion = f"""<saml:Assertion {_NS} ID="_a" Version="2.0" IssueInstant="{at(0)}">
<saml:Issuer>{IDP}</saml:Issuer><saml:Subject>
<saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">eve-1</saml:NameID>
<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">
<saml:SubjectConfirmationData NotOnOrAfter="{at(minutes)}" Recipient="{ACS}"
 InResponseTo="{request_id}"/></saml:SubjectConfirmation></saml:Subject>
<saml:Conditions NotBefore="{at(-10)}" NotOnOrAfter="{at(minutes)}"><saml:AudienceRestriction>
<saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>
<saml:AuthnStatement AuthnInstant="{at(0)}"><saml:AuthnContext><saml:AuthnContextClassRef>
urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext>
</saml:AuthnStatement><saml:AttributeStatement>{stated}</saml:AttributeStatement>
</saml:Assertion>"""
    signed = assertion
    if key:
        signed = utils.add_sign(assertion, key, CERTIFICATE).decode()
    xml = f"""<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" {_NS} ID="_r"
 Version="2.0" IssueInstant="{at(0)}" Destination="{ACS}" InResponseTo="{request_id}">
<saml:Issuer>{IDP}</saml:Issuer><samlp:Status>
<samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>
{signed}</samlp:Response>"""
    return base64.b64encode(xml.encode()).decode()


@pytest.fixture
def client() -> Client:
    return Client(headers={"host": "testserver"})


@pytest.fixture
def provider(db: None) -> IdentityProvider:
    return IdentityProvider.objects.create(
        slug="corp",
        name="Corp",
        kind="saml",
        metadata=read_metadata(METADATA),
        domains=["corp.example"],
        trusts_email=True,
        allows_signup=True,
    )


def begin(client: Client) -> str:
    """Returns: the id of the request that the provider gets."""
    page = client.post("/login/with/corp").content.decode()
    found = re.search(r'url=([^"]+)"', page)
    assert found is not None
    url = found[1].replace("&amp;", "&")
    assert url.startswith(f"{IDP}/sso?")
    request = parse_qs(urlsplit(url).query)["SAMLRequest"][0]
    asked = re.search(r'\bID="([^"]+)"', zlib.decompress(base64.b64decode(request), -15).decode())
    assert asked is not None
    return asked[1]


def come_back(client: Client, response: str) -> Any:
    return client.get(client.post("/sso/corp/acs", {"SAMLResponse": response})["Location"])


def test_a_person_signs_in_with_saml_and_gets_a_role(
    provider: IdentityProvider, client: Client, team: Team
) -> None:
    IdentityRule.objects.create(
        provider=provider, claim="groups", value="developers", team=team, role=Role.MEMBER
    )
    signed = answer(begin(client))
    assert come_back(client, signed)["Location"] == "/"
    assert is_signed_in(client)
    membership = Membership.objects.get(team=team, user__email="eve@corp.example")
    assert membership.role == Role.MEMBER
    client.logout()
    # The same answer again, in the same and in another browser.
    for browser in (client, Client(headers={"host": "testserver"})):
        assert come_back(browser, signed).status_code == 403
        assert not is_signed_in(browser)


@pytest.mark.parametrize(
    "wrong",
    [{"key": ""}, {"key": make_key()[0]}, {"audience": "https://other.example"}, {"minutes": -8}],
)
def test_an_answer_that_is_not_signed_for_us_now_is_refused(
    wrong: dict[str, Any], provider: IdentityProvider, client: Client
) -> None:
    assert come_back(client, answer(begin(client), **wrong))["Location"] == "/login"
    assert not User.objects.exists()


def test_an_answer_that_nobody_asked_for_is_refused(
    provider: IdentityProvider, client: Client
) -> None:
    assert come_back(client, answer("_unasked")).status_code == 403
    assert not User.objects.exists()


@pytest.mark.parametrize("text", ["", "<a/>", "no xml", METADATA.replace("IDPSSO", "SPSSO")])
def test_what_is_no_metadata_is_said(text: str) -> None:
    with pytest.raises(Invalid, match="not SAML metadata"):
        read_metadata(text)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "has_saml", lambda: False)
    with pytest.raises(Invalid, match=r"opencode-web\[saml\]"):
        read_metadata(METADATA)
