"""How many words name a command: of `npm run build --watch` three. Source: OpenCode 1.18."""

from __future__ import annotations

from collections.abc import Sequence

_ONE = (
    "cat cd chmod chown cp echo env export grep kill killall ln ls mkdir mv ps pwd rm rmdir sleep "
    "source tail touch unset which"
)
_TWO = (
    "bazel brew bun cargo cdk cf cmake composer consul crictl deno docker eksctl firebase "
    "flyctl git go gradle helm heroku hugo ip kind kubectl kustomize make mc minikube mongosh "
    "mysql mvn ng npm nvm nx openssl pip pipenv pnpm poetry podman psql pulumi pyenv python "
    "rake rbenv redis-cli rustup serverless skaffold sls sst swift systemctl terraform tmux "
    "turbo ufw vault vercel volta wp yarn"
)
_THREE = "aws az doctl gcloud gh sfdx"
_THREE_BY_TWO = {
    "bun": "run x",
    "cargo": "add run",
    "consul": "kv",
    "deno": "task",
    "docker": "builder compose container image network volume",
    "eksctl": "create",
    "git": "config remote stash",
    "ip": "addr link netns route",
    "kind": "create",
    "kubectl": "kustomize rollout",
    "mc": "admin",
    "npm": "exec init run view",
    "openssl": "req x509",
    "pnpm": "dlx exec run",
    "podman": "container image",
    "pulumi": "stack",
    "terraform": "workspace",
    "vault": "auth kv",
    "yarn": "dlx run",
}

_LENGTHS: dict[str, int] = {
    **dict.fromkeys(_ONE.split(), 1),
    **dict.fromkeys(_TWO.split(), 2),
    **dict.fromkeys(_THREE.split(), 3),
    **{
        f"{name} {second}": 3
        for name, seconds in _THREE_BY_TWO.items()
        for second in seconds.split()
    },
}
_LONGEST_KEY = 2


def prefix_length(words: Sequence[str]) -> int:
    """Count the words that name the command: by the longest known prefix, else one."""
    for size in range(min(_LONGEST_KEY, len(words)), 0, -1):
        length = _LENGTHS.get(" ".join(words[:size]))
        if length is not None:
            return length
    return 1
