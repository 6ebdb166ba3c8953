"""Plugins that a repository or a team brings, loaded and called in the sandbox; nothing runs here.

One process holds all plugins of a session's worktree. It is spoken to in JSON-RPC, one message on
each line. What it says begins with a marker that it was told in its first message, so that what
plugins print is no answer. A plugin that digs for the marker in its own process gains nothing: all
plugins of a project are trusted together, and each answer is checked like any that they may give.

- `load` `{marker, at, files: {path: text}, entries: [path], packages: [{path, name, folder,
  options}], folder, directory, project, config, zod}` →
  `{plugins: [{path, hooks, tools: [{name, description, parameters}], problem, config, unset,
  configProblem}]}`: `config` has the agents and commands that a hook has set, `unset` names others
- `hook` `{name, input, output, without: [path]}` → `{output?, changed: [path], failed: [{path,
  message}]}`, without what nobody has changed; with `stops`, the first that throws ends it
- `tool` `{path, name, arguments, context}` → `{title?, output, metadata?}` or `{error}`
- `events` `{events: [event]}` → `{}` once the plugins are done with them
- `dispose` `{}` → `{failed: [path]}`, before the process is ended

While a request is at work, the process may ask `client` `{progressToken: id, name, given}` →
`{data}` or `{error}`: `name` is a function of the `client` that plugins are given.

Before a plugin is loaded or called, its path is written with the id of the request into the file
`at`, which the server reads when the answer is late.
"""
