"""One module per provider or family; importing this package registers all of them."""

from __future__ import annotations

from . import anthropic as anthropic
from . import azure as azure
from . import bedrock as bedrock
from . import bedrock_mantle as bedrock_mantle
from . import chat_vendors as chat_vendors
from . import cloudflare as cloudflare
from . import cohere as cohere
from . import compatible as compatible
from . import copilot as copilot
from . import gitlab as gitlab
from . import google as google
from . import litellm as litellm
from . import mistral as mistral
from . import openai as openai
from . import openrouter as openrouter
from . import snowflake as snowflake
from . import vertex as vertex
from . import vertex_anthropic as vertex_anthropic
from . import xai as xai
