"""Amazon Bedrock.

Source: https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html; what
OpenCode 1.18 sends, recorded.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from ..auth import bearer
from ..auth_aws import sigv4
from ..errors import RefusedRequest
from ..messages import ProviderRequest
from ..protocols.converse import Converse
from ..route import Auth, Route, register
from ..texts import gettext_noop

_PROTOCOL = Converse()
NO_REGION = gettext_noop("Amazon Bedrock needs a region. Set it in the provider's settings.")
BAD_REGION = gettext_noop(
    "The region of this Amazon Bedrock provider is not valid. Use a name such as us-east-1."
)
_NO_KEYS = gettext_noop(
    "Amazon Bedrock needs a Bedrock API key, or an access key ID with its secret "
    "access key. Set them in the provider's settings."
)
# It becomes a part of the address.
REGION = re.compile(r"[a-z0-9-]+")
_REGION_IN_A_HOST = re.compile(r"//bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")
_COMPLETE = ("global.", "us.", "us-gov.", "eu.", "jp.", "apac.", "au.", "ca.", "arn:")
_NOVA = ("nova-lite", "nova-micro", "nova-pro", "nova-2")
# Regions, words in a model's id, prefix of the group of regions that serves it; the first that fits
# counts. Models that none of them names are served by the region itself.
_GROUPS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (r"us-(?!gov)", (*_NOVA, "nova-premier", "claude", "deepseek"), "us."),
    (
        r"eu-(?:west-[123]|north-1|central-1|south-[12])$",
        ("claude", "nova-lite", "nova-micro", "nova-2", "llama3", "pixtral"),
        "eu.",
    ),
    (r"ap-southeast-[24]$", ("claude-sonnet-4-5", "claude-haiku"), "au."),
    (r"ap-northeast-1$", (*_NOVA, "claude"), "jp."),
    (r"ap-(?!northeast-1$|southeast-[24]$)", (*_NOVA, "claude"), "apac."),
)


def _bedrock(request: ProviderRequest) -> Route:
    connection = request.model.connection
    base = (connection.get("endpoint") or request.model.base_url or "").rstrip("/")
    region = connection.get("region") or _region_of(base)
    if not base and not region:
        raise RefusedRequest(NO_REGION)
    if region and not REGION.fullmatch(region):
        raise RefusedRequest(BAD_REGION)
    base = base or f"https://bedrock-runtime.{region}.amazonaws.com"
    model = quote(profile_of(request.model.api_model, region), safe="!~*'()")
    return Route(_PROTOCOL, f"{base}/model/{model}/converse-stream", bedrock_auth(request, region))


def profile_of(model: str, region: str) -> str:
    """Returns: the id under which the region's group serves a model."""
    if model.startswith(_COMPLETE):
        return model
    for regions, words, prefix in _GROUPS:
        if re.match(regions, region) and any(word in model for word in words):
            return prefix + model
    return model


def _region_of(base: str) -> str:
    found = _REGION_IN_A_HOST.search(base)
    return found[1] if found else ""


def bedrock_auth(request: ProviderRequest, region: str) -> Auth:
    """Returns: an API key, or a signature. Raises: RefusedRequest."""
    if request.model.api_key:
        return bearer(request.model.api_key)
    secrets = request.model.secrets
    key_id, key = secrets.get("accessKeyId"), secrets.get("secretAccessKey")
    if not key_id or not key:
        raise RefusedRequest(_NO_KEYS)
    if not region:
        raise RefusedRequest(NO_REGION)
    return sigv4("bedrock", region, key_id, key, secrets.get("sessionToken"))


register("@ai-sdk/amazon-bedrock", _bedrock)
