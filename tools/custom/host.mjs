// Runs inside the sandbox: loads a tool written in JavaScript, describes it or runs it.
// It is given to `node --input-type=module -e` as a text, after that of `package.mjs`.
import { readFileSync, writeSync } from "node:fs"
import { register } from "node:module"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"

const request = JSON.parse(readFileSync(0, "utf8"))
const folder = pathToFileURL(dirname(request.file) + "/").href
const HOOKS = `
const taken = ${JSON.stringify(SPECIFIERS)}
export async function resolve(specifier, context, next) {
  return taken.includes(specifier)
    ? { url: ${JSON.stringify(AT)}, shortCircuit: true }
    : next(specifier, context)
}
export async function load(url, context, next) {
  const ours = url.startsWith(${JSON.stringify(folder)}) && url.endsWith(".js")
  return next(url, ours ? { ...context, format: "module" } : context)
}
`

async function exportsOf(file) {
  if (file.endsWith(".ts") && !process.features.typescript)
    throw new Error("TypeScript needs a node that strips types (23.6 or later); write JavaScript")
  const found = Object.entries(await import(pathToFileURL(file).href))
  const tools = found.filter(([, one]) => typeof one?.execute === "function")
  if (!tools.length) throw new Error("it exports no tool: an object with description and execute")
  return new Map(tools)
}

async function parametersOf(definition) {
  if (definition.parameters) return definition.parameters
  const { object } = await import(AT)
  return object(definition.args)
}

async function answer() {
  register("data:text/javascript," + encodeURIComponent(HOOKS))
  const tools = await exportsOf(request.file)
  if (request.do === "describe") {
    const list = []
    for (const [name, one] of tools)
      list.push({
        export: name,
        description: String(one.description ?? ""),
        parameters: await parametersOf(one),
      })
    return { tools: list }
  }
  const context = { ...request.context, worktree: request.context.directory }
  context.abort = new AbortController().signal
  let metadata = {}
  context.metadata = (given) => { metadata = { ...metadata, ...given } }
  const result = await tools.get(request.export).execute(request.arguments, context)
  const title = metadata.title
  if (result && typeof result === "object" && "output" in result)
    return { title: result.title ?? title, output: result.output, metadata: result.metadata }
  return { title, output: typeof result === "string" ? result : JSON.stringify(result ?? null) }
}

let text
try {
  text = JSON.stringify(await answer())
} catch (error) {
  text = JSON.stringify({ error: String(error?.message ?? error) })
}
writeSync(1, "\n" + request.marker + text + "\n")
process.exit(0)
