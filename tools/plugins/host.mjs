// Runs inside the sandbox: loads the plugins of a repository, and calls their hooks and tools.
// It is given to `node --input-type=module -e` as a text, after `package.mjs`, `bun.mjs` and `imports.mjs`.
import { AsyncLocalStorage } from "node:async_hooks"
import { Console } from "node:console"
import { openSync, rmSync, writeSync } from "node:fs"
import { pathToFileURL } from "node:url"

// What a plugin puts in the place of these later is not what is used here.
const { parse, stringify } = JSON
const { keys, entries, values, fromEntries } = Object
const [write, wait] = [writeSync, Atomics.wait]
const encoder = new TextEncoder()
const cell = new Int32Array(new SharedArrayBuffer(4))
const MAX_BYTES = 8 * 1024 * 1024
const MOST_ASKED = 4
const LOADED = []
const running = new Map()
// What plugins have asked the server, by id, and what is asked next; the call that code runs in.
const asked = new Map()
const waiting = []
const current = new AsyncLocalStorage()
let questions = 0
let marker = ""
// Which plugin each request is at, in a file: to be told each time would wake the server.
const at = new Map()
let told

// Anything printed goes where errors go.
globalThis.console = new Console(process.stderr)
Object.defineProperty(process, "stdout", { get: () => process.stderr })
process.on("uncaughtException", (error) => console.error(said(error)))
process.on("unhandledRejection", (error) => console.error(said(error)))

function said(error) {
  return String(error?.message ?? error).slice(0, 2000)
}

function send(message) {
  const bytes = encoder.encode(`\n${marker}${stringify({ jsonrpc: "2.0", ...message })}\n`)
  if (bytes.length > MAX_BYTES)
    return send({ id: message.id, error: { message: "The answer is too large." } })
  for (let at = 0; at < bytes.length; ) {
    try {
      at += write(1, bytes, at)
    } catch (error) {
      if (error.code !== "EAGAIN") throw error
      wait(cell, 0, 0, 2) // a child has made the pipe one that does not wait
    }
  }
}

function tell(id, path) {
  at.delete(id)
  at.set(id, path)
  if (told !== undefined) write(told, stringify([...at]) + "\n", 0)
}

// With all of zod where a plugin may want it; else the small part of it that costs nothing.
function packages(zod) {
  const names = keys(BUN).filter((name) => name !== "$")
  const texts = {
    "opencode:bun": `export const { ${["$", ...names].join(", ")} } = globalThis.Bun
      export default globalThis.Bun`,
  }
  const ours = { bun: "opencode:bun" }
  for (const name of SPECIFIERS) ours[name] = AT
  if (!zod) return { texts, ours }
  texts["opencode:zod"] = zod
  texts["opencode:plugin"] = `import { z } from "opencode:zod"
    export { z }
    export const schema = z
    export const tool = Object.assign((definition) => definition, { schema: z })
    export default { tool, schema: z }`
  for (const name of SPECIFIERS)
    ours[name] = name.startsWith("zod") ? "opencode:zod" : "opencode:plugin"
  return { texts, ours: { ...ours, "zod/v4": "opencode:zod" } }
}

async function parametersOf(args) {
  const { z } = await import("zod")
  if (!z?.toJSONSchema) return z.object(args ?? {}).json
  const { $schema, ...schema } = z.toJSONSchema(z.object(args ?? {}), { io: "input" })
  return schema
}

async function checked(args, given) {
  const { z } = await import("zod")
  return args && z.toJSONSchema ? z.object(args).parseAsync(given) : given
}

function clientAt(path) {
  return new Proxy(() => {}, {
    get: (_, key) => {
      if (typeof key !== "symbol" && key !== "then") return clientAt([...path, key])
    },
    apply: async (_, self, [given]) => {
      const name = path.join(".")
      if (name !== "app.log") return ask(name, given ?? {})
      console.error(stringify(given?.body ?? given ?? null))
      return { data: true }
    },
  })
}

// Answered as long as the call that the code belongs to is at work.
function ask(name, given) {
  const call = current.getStore()
  if (!running.has(call))
    throw new Error(`client.${name} is only answered while a hook or a tool is at work.`)
  return new Promise((resolve, reject) => {
    waiting.push({ call, name, given, resolve, reject })
    askNext()
  })
}

function askNext() {
  while (waiting.length && asked.size < MOST_ASKED) {
    const question = waiting.shift()
    const { call, name, given, reject } = question
    if (!running.has(call)) {
      reject(new Error("The call is over."))
      continue
    }
    const id = `client-${++questions}`
    asked.set(id, question)
    send({ id, method: "client", params: { progressToken: call, name, given } })
  }
}

function answered({ id, result, error }) {
  const question = asked.get(id)
  asked.delete(id)
  if (error) question?.reject(new Error(error.message))
  else question?.resolve(result)
  askNext()
}

function over(call) {
  running.delete(call)
  at.delete(call)
  for (const [id, question] of asked)
    if (question.call === call) answered({ id, error: { message: "The call is over." } })
}

async function loadOne(path, url, input, options) {
  const module = await import(url)
  const server = module.default?.server
  const found = new Set(server ? [server] : values(module))
  const functions = [...found].filter((one) => typeof one === "function")
  const plugin = { path, parts: [] }
  for (const one of functions) {
    const hooks = await one(input, options)
    if (hooks && typeof hooks === "object") plugin.parts.push(hooks)
  }
  if (!plugin.parts.length) throw new Error("It exports no plugin: a function that returns hooks.")
  const described = await describe(plugin)
  LOADED.push(plugin)
  return described
}

async function describe({ path, parts }) {
  const tools = []
  for (const [name, one] of parts.flatMap((part) => entries(part.tool ?? {})))
    tools.push({
      name,
      description: String(one.description ?? ""),
      parameters: one.parameters ?? (await parametersOf(one.args)),
    })
  const hooks = parts.flatMap((part) => keys(part).filter((name) => name !== "tool" && part[name]))
  return { path, hooks: [...new Set(hooks)], tools }
}

async function load(given, tell) {
  const { files, entries: wanted, packages: ofTeam, folder, directory, project, at, zod } = given
  rmSync(at, { force: true, recursive: true })
  told = openSync(at, "wx")
  const { node } = process.versions
  if (Number.parseInt(node) < 20) throw new Error(`Plugins need Node.js 20 or later, not ${node}.`)
  const address = (path) => pathToFileURL(`${folder}/${path}`).href
  const { texts, ours } = packages(zod)
  // By the specifier that stands for what a package offers as a plugin.
  const packaged = {}
  for (const { path, name, folder } of ofTeam)
    packaged[`package:${path}`] = { name, from: pathToFileURL(`${folder}/`).href }
  const problems = {}
  for (const [path, text] of entries(files)) {
    try {
      texts[address(path)] = path.endsWith(".ts") ? withoutTypes(text) : text
    } catch (error) {
      problems[path] = said(error)
    }
  }
  modules.register("data:text/javascript," + encodeURIComponent(IMPORTS), {
    data: {
      files: texts,
      ours,
      builtin: modules.builtinModules,
      packages: packaged,
      folders: values(packaged).map((one) => one.from),
    },
  })
  const input = {
    client: clientAt([]),
    project,
    directory,
    worktree: folder,
    serverUrl: new URL("http://server.invalid/"),
    experimental_workspace: { register() {} },
    $: (BUN.$ = shellIn(directory)),
  }
  const plugins = []
  for (const path of wanted) {
    tell(path)
    try {
      if (problems[path]) throw new Error(problems[path])
      const own = ofTeam.find((one) => one.path === path)
      const url = own ? `package:${path}` : address(path)
      plugins.push(await loadOne(path, url, input, own?.options ?? undefined))
    } catch (error) {
      plugins.push({ path, hooks: [], tools: [], problem: said(error) })
    }
  }
  await configure(plugins, given.config, tell)
  return { plugins }
}

// After all are loaded, as in OpenCode: each sees what those before it have set.
async function configure(plugins, config, tell) {
  for (const { path, parts } of LOADED) {
    const plugin = plugins.find((one) => one.path === path)
    for (const part of parts.filter((one) => typeof one.config === "function")) {
      tell(path)
      try {
        const own = parse(stringify(config))
        await part.config(own)
        const after = parse(stringify(own))
        const { agent, command, ...others } = differing(config, after)
        plugin.config = {
          agent: { ...plugin.config?.agent, ...differing(config.agent, agent) },
          command: { ...plugin.config?.command, ...differing(config.command, command) },
        }
        plugin.unset = [...(plugin.unset ?? []), ...keys(others)]
        config = after
      } catch (error) {
        plugin.configProblem = said(error)
      }
    }
  }
}

function differing(before, after) {
  const isNew = ([key, value]) => stringify(value) !== stringify(before?.[key])
  return fromEntries(entries(after ?? {}).filter(isNew))
}

// One after the other: the next may have been sent before this one was answered.
let turn = Promise.resolve()
function hook(params, tell) {
  const result = turn.then(() => hookNow(params, tell))
  turn = result.catch(() => {})
  return result
}

async function hookNow({ name, input, output, without, stops }, tell) {
  const given = stringify(input)
  const changed = []
  const failed = []
  let text = stringify(output)
  for (const { path, parts } of LOADED) {
    if (without.includes(path)) continue
    for (const part of parts.filter((one) => typeof one[name] === "function")) {
      tell(path)
      try {
        // A copy of its own: what it does to it later is nobody's answer.
        const own = parse(text)
        await part[name](parse(given), own)
        const after = stringify(own)
        parse(after)
        if (after !== text) changed.push(path)
        text = after
      } catch (error) {
        failed.push({ path, message: said(error) })
        if (stops) return left(text, changed, failed)
      }
    }
  }
  return left(text, changed, failed)
}

// What nobody has changed is not sent back.
function left(text, changed, failed) {
  return { ...(changed.length ? { output: parse(text) } : {}), changed, failed }
}

async function tool({ path, name, arguments: args, context }, tell, signal) {
  tell(path)
  const plugin = LOADED.find((one) => one.path === path)
  const definition = plugin?.parts.map((part) => part.tool?.[name]).find(Boolean)
  if (!definition) return { error: "The plugin has no such tool any more." }
  let shown = {}
  const given = {
    ...context,
    abort: signal,
    metadata: (more) => { shown = { ...shown, ...more } },
    ask: async () => { throw new Error("context.ask is not available to plugins here.") },
  }
  try {
    const result = await definition.execute(await checked(definition.args, args), given)
    const { title, metadata } = shown
    if (result && typeof result === "object" && "output" in result)
      return { title, metadata, ...result }
    const output = typeof result === "string" ? result : stringify(result ?? null)
    return { title, output, metadata }
  } catch (error) {
    return { error: said(error) }
  }
}

// Nobody waits for what comes of them, but for their end: then `client` is answered no more.
async function events({ events }, tell) {
  const work = []
  for (const { path, parts } of LOADED)
    for (const part of parts.filter((one) => typeof one.event === "function")) {
      tell(path)
      for (const event of events) work.push(heard(part, parse(stringify(event))))
    }
  await Promise.all(work)
  return {}
}

async function dispose(params, tell) {
  const failed = []
  for (const { path, parts } of LOADED)
    for (const part of parts.filter((one) => typeof one.dispose === "function")) {
      tell(path)
      try {
        await part.dispose()
      } catch (error) {
        console.error(said(error))
        failed.push(path)
      }
    }
  return { failed }
}

async function heard(part, event) {
  try {
    await part.event({ event })
  } catch (error) {
    console.error(said(error))
  }
}

const METHODS = { load, hook, tool, events, dispose }

async function answer(message) {
  const { id, method, params } = message
  if (!method) return answered(message)
  if (method === "notifications/cancelled") {
    running.get(params.requestId)?.abort()
    return over(params.requestId)
  }
  if (id === undefined || !METHODS[method]) return
  if (method === "load") ({ marker } = params)
  const stop = new AbortController()
  running.set(id, stop)
  try {
    const work = () => METHODS[method](params, (path) => tell(id, path), stop.signal)
    send({ id, result: await current.run(id, work) })
  } catch (error) {
    send({ id, error: { message: said(error) } })
  } finally {
    over(id)
  }
}

let rest = ""
process.stdin.setEncoding("utf8")
process.stdin.on("end", () => process.exit(0))
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n")
  rest = lines.pop()
  for (const line of lines) if (line) answer(parse(line))
})
