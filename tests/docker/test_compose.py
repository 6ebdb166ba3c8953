from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
import yaml
from django.urls import resolve

from tests.architecture.sources import ROOT
from tests.architecture.test_docs import settings_defaults

DOCKER = ROOT / "docker"
COMPOSE: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = ("web", "worker", "beat")
DOCKERFILE = re.sub(r"\\\n", " ", (DOCKER / "Dockerfile").read_text())
STEPS = [
    line.split(maxsplit=1) for line in DOCKERFILE.splitlines() if line and not line.startswith("#")
]


def _last(instruction: str) -> str:
    return [rest for name, rest in STEPS if name == instruction][-1]


def test_it_has_the_services_of_the_production_shape() -> None:
    assert set(SERVICES) == {*OURS, "postgres", "redis"}
    assert set(COMPOSE["volumes"]) == {"data", "database"}


@pytest.mark.parametrize("name", OURS)
def test_our_services_are_one_image_with_settings_that_exist(name: str) -> None:
    service = SERVICES[name]
    assert service["image"] == "opencode-web"
    assert (DOCKER / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    assert set(service["environment"]) <= set(settings_defaults())
    assert {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"} <= set(service["environment"])
    assert service["env_file"] == ".env"
    assert "data:/data" in service["volumes"]
    assert service["environment"]["OPENCODE_WEB_DATA"] == "/data"


def test_every_service_comes_back_and_waits_for_what_it_needs(subtests: pytest.Subtests) -> None:
    for name in [*OURS, "postgres", "redis"]:
        with subtests.test(name=name):
            service = SERVICES[name]
            assert service["restart"] == "unless-stopped"
            for needed, how in service.get("depends_on", {}).items():
                assert how == {"condition": "service_healthy"}
                # The image of web has a check of its own.
                assert needed == "web" or "test" in SERVICES[needed]["healthcheck"]


def test_no_secret_is_written_down() -> None:
    for service in SERVICES.values():
        for key, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET", key):
                assert re.fullmatch(r"\$\{[A-Z_]+:\?.+\}", value)
    assert ":${POSTGRES_PASSWORD:?" in SERVICES["web"]["environment"]["DATABASE_URL"]


def test_only_the_worker_may_make_namespaces_and_nobody_has_capabilities() -> None:
    loose = {name for name in OURS if "seccomp=unconfined" in SERVICES[name]["security_opt"]}
    assert loose == {"worker"}
    for name in OURS:
        assert SERVICES[name]["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in SERVICES[name]["security_opt"]
        assert "privileged" not in SERVICES[name]


def test_the_port_is_open_to_this_host_only() -> None:
    assert all(port.startswith("127.0.0.1:") for port in SERVICES["web"]["ports"])
    assert not any("ports" in SERVICES[name] for name in SERVICES if name != "web")


def test_the_image_runs_as_an_ordinary_user_and_checks_its_files() -> None:
    assert _last("USER").isdecimal()
    assert "--require-hashes" in DOCKERFILE
    assert next(rest for name, rest in STEPS if name == "FROM").endswith(" AS build")
    assert not any(name == "ARG" and re.search("KEY|TOKEN|PASS", rest) for name, rest in STEPS)
    assert not any(name == "ENV" and "SECRET" in rest for name, rest in STEPS)
    health = re.search(r"http://127\.0\.0\.1:4096(/[\w/]+)", _last("HEALTHCHECK"))
    assert health is not None
    assert resolve(health[1]).url_name == "ready"


def test_everything_that_is_copied_exists_and_is_in_the_context() -> None:
    allowed = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    }
    copied = [
        source
        for name, rest in STEPS
        if name == "COPY" and not rest.startswith("--from")
        for source in shlex.split(rest)[:-1]
    ]
    assert set(copied) == allowed
    assert [source for source in copied if not (ROOT / source).exists()] == []


def test_the_image_and_make_use_the_same_installer() -> None:
    version = re.search(r"UV_VERSION := (\S+)", (ROOT / "Makefile").read_text())
    assert version is not None
    assert f"ARG UV_VERSION={version[1]}\n" in DOCKERFILE
