// Runs inside the sandbox: loads a tool written in JavaScript, describes it or runs it.
// It is given to `node --input-type=module -e` as a text. Tools written for the plugin package of
// OpenCode find `tool` and a small part of its schema builder here; nothing is installed.
import { readFileSync, writeSync } from "node:fs"
import { register } from "node:module"
import { dirname } from "node:path"
import { pathToFileURL } from "node:url"

const PLUGIN = String.raw`
class Schema {
  constructor(json, optional = false) { this.json = json; this.isOptional = optional }
  with(more) { return new Schema({ ...this.json, ...more }, this.isOptional) }
  describe(description) { return this.with({ description }) }
  optional() { return new Schema(this.json, true) }
  nullable() { return new Schema({ anyOf: [this.json, { type: "null" }] }, this.isOptional) }
  nullish() { return this.nullable().optional() }
  default(value) { return new Schema({ ...this.json, default: value }, true) }
  int() { return this.with({ type: "integer" }) }
  positive() { return this.with({ exclusiveMinimum: 0 }) }
  nonnegative() { return this.with({ minimum: 0 }) }
  min(value) { return this.with({ [this.bound("min")]: value }) }
  max(value) { return this.with({ [this.bound("max")]: value }) }
  bound(side) {
    if (this.json.type === "string") return side + "Length"
    return this.json.type === "array" ? side + "Items" : side + "imum"
  }
  url() { return this.with({ format: "uri" }) }
  email() { return this.with({ format: "email" }) }
  regex(pattern) { return this.with({ pattern: pattern.source }) }
  array() { return schema.array(this) }
}
export function object(shape) {
  const entries = Object.entries(shape ?? {})
  const required = entries.filter(([, one]) => !one.isOptional).map(([name]) => name)
  const properties = Object.fromEntries(entries.map(([name, one]) => [name, one.json]))
  return { type: "object", properties, ...(required.length ? { required } : {}) }
}
const make = (json) => new Schema(json)
export const schema = {
  string: () => make({ type: "string" }),
  number: () => make({ type: "number" }),
  boolean: () => make({ type: "boolean" }),
  any: () => make({}),
  unknown: () => make({}),
  null: () => make({ type: "null" }),
  literal: (value) => make({ const: value }),
  enum: (values) => make({ enum: Array.isArray(values) ? values : Object.values(values) }),
  array: (items) => make({ type: "array", items: items.json }),
  object: (shape) => make(object(shape)),
  record: (key, value) => make({ type: "object", additionalProperties: (value ?? key).json }),
  union: (all) => make({ anyOf: all.map((one) => one.json) }),
  optional: (one) => one.optional(),
}
export const z = schema
export function tool(definition) { return definition }
tool.schema = schema
export default { tool, schema }
`
const AT = "data:text/javascript," + encodeURIComponent(PLUGIN)
const SPECIFIERS = ["@opencode-ai/plugin", "@opencode-ai/plugin/tool", "zod"]

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
