// How what plugins import is found: a thread of its own is given this text. It is put before
// `host.mjs`, which says what there is.
import { spawnSync } from "node:child_process"
import * as modules from "node:module"

function withoutTypes(text) {
  const strip = modules.stripTypeScriptTypes
  if (strip) return strip(text, { mode: "transform" })
  const made = spawnSync("esbuild", ["--loader=ts", "--format=esm"], { input: text })
  if (made.error)
    throw new Error("TypeScript needs Node.js 22.13 or later, or esbuild; write JavaScript.")
  if (made.status) throw new Error(String(made.stderr).slice(0, 500))
  return String(made.stdout)
}

// Files of packages import each other as Node.js lets them, and as Bun does, too.
const IMPORTS = `
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import * as modules from "node:module"
let given
const ENDS = [".ts", ".js", "/index.ts", "/index.js"]
const inPackage = (url) => given.folders.some((folder) => url?.startsWith(folder))
${withoutTypes}
export function initialize(data) { given = data }
async function first(names, context, next) {
  let failed
  for (const name of names)
    try {
      return await next(name, context)
    } catch (error) {
      failed ??= error
    }
  throw failed
}
async function resolveInPackage(specifier, context, next) {
  const ours = given.ours[specifier]
  if (ours && /^bun$|^@opencode/.test(specifier)) return { url: ours, shortCircuit: true }
  const names = [specifier, ...ENDS.map((end) => specifier + end), specifier.replace(/[.]js$/, ".ts")]
  try {
    return await first(names, context, next)
  } catch (error) {
    if (ours) return { url: ours, shortCircuit: true }
    throw error
  }
}
export async function resolve(specifier, context, next) {
  const own = given.packages[specifier]
  if (own) {
    const from = { ...context, parentURL: own.from }
    const names = ["/server", "", "/index.ts"].map((end) => own.name + end)
    return first(names, from, next).catch(() => {
      throw new Error(own.name + " has no entry that can be imported.")
    })
  }
  if (inPackage(context.parentURL)) return resolveInPackage(specifier, context, next)
  const ours = given.ours[specifier] ?? (given.files[specifier] && specifier)
  if (ours) return { url: ours, shortCircuit: true }
  if (specifier.startsWith("node:") || given.builtin.includes(specifier))
    return next(specifier, context)
  if (URL.canParse(specifier, context.parentURL)) {
    const url = new URL(specifier, context.parentURL).href
    const names = [url, url + ".ts", url + ".js", url.replace(/[.]js$/, ".ts"), url + "/index.js"]
    const found = names.find((name) => given.files[name] !== undefined)
    if (found) return { url: found, shortCircuit: true }
  }
  throw new Error(specifier + " cannot be imported: plugins import files beside them, modules of "
    + "Node.js, @opencode-ai/plugin, zod and bun")
}
export async function load(url, context, next) {
  const [, end] = (inPackage(url) && /[.](m?ts|json|txt|md)$/.exec(url)) || []
  if (end) {
    const text = readFileSync(new URL(url), "utf8")
    if (end === "json") return { format: "json", source: text, shortCircuit: true }
    const code = end.endsWith("ts") ? withoutTypes(text) : "export default " + JSON.stringify(text)
    return { format: "module", source: code, shortCircuit: true }
  }
  if (given.files[url] === undefined) return next(url, context)
  const format = url.endsWith(".json") ? "json" : "module"
  return { format, source: given.files[url], shortCircuit: true }
}
`

