// What plugins find as `Bun` and `bun`: the part of Bun that can be had from Node.js, in the sandbox.
// It is put before `host.mjs`.
import * as processes from "node:child_process"
import * as fs from "node:fs"
import { dirname, join, resolve as absolute } from "node:path"
import { Readable } from "node:stream"
import { fileURLToPath } from "node:url"

const bytesOf = async (data) => {
  if (typeof data === "string") return Buffer.from(data)
  if (typeof data?.arrayBuffer === "function") return Buffer.from(await data.arrayBuffer())
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return Buffer.from(data)
}

class BunFile {
  constructor(path, { type } = {}) {
    this.name = path instanceof URL ? fileURLToPath(path) : String(path)
    this.type = type ?? "application/octet-stream"
  }
  get size() { return fs.statSync(this.name, { throwIfNoEntry: false })?.size ?? 0 }
  get lastModified() { return fs.statSync(this.name).mtimeMs }
  text() { return fs.promises.readFile(this.name, "utf8") }
  async json() { return JSON.parse(await this.text()) }
  async bytes() { return new Uint8Array(await fs.promises.readFile(this.name)) }
  async arrayBuffer() { return (await this.bytes()).buffer }
  stream() { return Readable.toWeb(fs.createReadStream(this.name)) }
  async exists() { return fs.statSync(this.name, { throwIfNoEntry: false })?.isFile() ?? false }
  write(data) { return writeFile(this, data) }
  unlink() { return fs.promises.unlink(this.name) }
  delete() { return this.unlink() }
}

async function writeFile(target, data) {
  const path = target instanceof BunFile ? target.name : new BunFile(target).name
  const bytes = await bytesOf(data)
  await fs.promises.mkdir(dirname(path), { recursive: true })
  await fs.promises.writeFile(path, bytes)
  return bytes.length
}

function which(name, { PATH = process.env.PATH ?? "" } = {}) {
  const found = PATH.split(":").map((folder) => join(folder, name))
  return [...(name.includes("/") ? [absolute(name)] : found)].find((path) => {
    try {
      fs.accessSync(path, fs.constants.X_OK)
      return fs.statSync(path).isFile()
    } catch {
      return false
    }
  }) ?? null
}

const started = (given, more) => {
  const { cmd, ...options } = Array.isArray(given) ? { cmd: given, ...more } : given
  const { stdin = "ignore", stdout = "pipe", stderr = "inherit" } = options
  const piped = typeof stdin === "string" || stdin === null ? stdin ?? "ignore" : "pipe"
  // The output of the host is the protocol's.
  const shown = (one) => (one === "inherit" ? 2 : one ?? "ignore")
  const stdio = [piped === "inherit" ? "ignore" : piped, shown(stdout), shown(stderr)]
  const { cwd, env, timeout, killSignal } = options
  return [cmd, { cwd, env: env ?? process.env, timeout, killSignal, stdio }, stdin, options.onExit]
}

function spawned(given, more) {
  const [[program, ...args], options, stdin, onExit] = started(given, more)
  const child = processes.spawn(program, args, options)
  const web = (stream) => (stream ? Readable.toWeb(stream) : undefined)
  const proc = {
    pid: child.pid,
    stdin: child.stdin ?? undefined,
    stdout: web(child.stdout),
    stderr: web(child.stderr),
    exitCode: null,
    signalCode: null,
    get killed() { return child.killed },
    kill: (signal) => void child.kill(signal),
    ref: () => child.ref(),
    unref: () => child.unref(),
  }
  proc.exited = new Promise((done, failed) => {
    child.on("error", failed)
    child.on("exit", (code, signal) => {
      Object.assign(proc, { exitCode: code, signalCode: signal })
      onExit?.(proc, code, signal)
      done(code ?? 128)
    })
  })
  proc.exited.catch(() => {})
  if (typeof stdin === "object" && stdin !== null)
    bytesOf(stdin).then((bytes) => child.stdin.end(bytes), () => child.stdin.end())
  return proc
}

function spawnedSync(given, more) {
  const all = Array.isArray(given) ? { cmd: given, ...more } : given
  const [[program, ...args], options, stdin] = started({ stderr: "pipe", ...all })
  const input = ArrayBuffer.isView(stdin) ? stdin : undefined
  const done = processes.spawnSync(program, args, { ...options, input })
  if (done.error) throw done.error
  const { status, signal, stdout, stderr, pid } = done
  const ended = { exitCode: status ?? 128, success: status === 0, signalCode: signal ?? undefined }
  return { ...ended, stdout: stdout ?? undefined, stderr: stderr ?? undefined, pid }
}

class Glob {
  constructor(pattern) {
    this.pattern = pattern
    const signs = /\*\*\/|\*\*|\*|\?|\{|\}|,|\[!?[^\]]+\]|[^]/g
    let depth = 0
    const source = String(pattern).replace(signs, (sign) => {
      if (sign === "**/") return "(?:[^/]+/)*"
      if (sign === "**") return ".*"
      if (sign === "*") return "[^/]*"
      if (sign === "?") return "[^/]"
      if (sign === "{") return depth++, "(?:"
      if (sign === "}" && depth) return depth--, ")"
      if (sign === "," && depth) return "|"
      if (sign.length > 1) return sign.replace("[!", "[^")
      return sign.replace(/[\\^$.*+?()[\]{}|]/, "\\$&")
    })
    this.matcher = new RegExp(`^${source}$`)
  }
  match(text) { return this.matcher.test(text) }
  *scanSync(given = {}) {
    const options = typeof given === "string" ? { cwd: given } : given
    const { cwd = process.cwd(), dot = false, absolute: whole = false } = options
    const walk = function* (below) {
      for (const one of fs.readdirSync(join(cwd, below), { withFileTypes: true })) {
        if (one.name.startsWith(".") && !dot) continue
        const path = below ? `${below}/${one.name}` : one.name
        if (one.isDirectory()) yield* walk(path)
        if (!one.isDirectory() || options.onlyFiles === false) yield path
      }
    }
    for (const path of walk("")) if (this.match(path)) yield whole ? join(cwd, path) : path
  }
  async *scan(given) { yield* this.scanSync(given) }
}

class Shell {
  constructor(command, directory) {
    this.command = command
    this.options = { cwd: directory, env: process.env }
    this.fails = true
  }
  quiet() { return this }
  nothrow() { return this.throws(false) }
  throws(fails) { this.fails = fails; return this }
  cwd(cwd) { this.options.cwd = cwd; return this }
  env(env) { this.options.env = env; return this }
  start() {
    this.result ??= new Promise((resolve, reject) => {
      const options = { ...this.options, stdio: ["ignore", "pipe", "pipe"] }
      const child = processes.spawn("bash", ["-c", this.command], options)
      const [stdout, stderr] = [[], []]
      child.stdout.on("data", (chunk) => stdout.push(chunk))
      child.stderr.on("data", (chunk) => stderr.push(chunk))
      child.on("error", reject)
      child.on("close", (code, signal) => {
        const result = {
          exitCode: code ?? 128,
          stdout: Buffer.concat(stdout),
          stderr: Buffer.concat(stderr),
        }
        result.text = () => String(result.stdout)
        result.json = () => JSON.parse(result.text())
        if (result.exitCode === 0 || !this.fails) return resolve(result)
        reject(Object.assign(new Error(`Failed with exit code ${result.exitCode}`), result))
      })
    })
    return this.result
  }
  then(done, failed) { return this.start().then(done, failed) }
  catch(failed) { return this.start().catch(failed) }
  async text() { return (await this.start()).text() }
  async json() { return (await this.start()).json() }
  async arrayBuffer() { return new Uint8Array((await this.start()).stdout).buffer }
  async *lines() { yield* (await this.text()).replace(/\n$/, "").split("\n") }
}

function quoted(value) {
  if (Array.isArray(value)) return value.map(quoted).join(" ")
  if (value && typeof value === "object" && "raw" in value) return String(value.raw)
  return `'${String(value).replaceAll("'", `'\\''`)}'`
}

const shellIn = (directory) => {
  const all = []
  const shell = (texts, ...given) => {
    const pieces = texts.raw.map((text, n) => text + (n < given.length ? quoted(given[n]) : ""))
    const made = new Shell(pieces.join(""), directory)
    return all.reduce((one, [name, value]) => one[name](value), made)
  }
  for (const name of ["nothrow", "throws", "cwd", "env"])
    shell[name] = (value) => { all.push([name, value]); return shell }
  return Object.assign(shell, { escape: quoted })
}

const notHere = (name) => () => {
  throw new Error(`Bun.${name} is not available here: plugins run in Node.js.`)
}

const BUN = {
  file: (path, options) => new BunFile(path, options),
  write: writeFile,
  which,
  spawn: spawned,
  spawnSync: spawnedSync,
  sleep: (ms) => new Promise((done) => setTimeout(done, ms instanceof Date ? ms - Date.now() : ms)),
  sleepSync: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
  fileURLToPath,
  pathToFileURL: (path) => new URL(`file://${absolute(path)}`),
  env: process.env,
  argv: process.argv,
  Glob,
  serve: notHere("serve"),
  listen: notHere("listen"),
  connect: notHere("connect"),
}
globalThis.Bun = BUN
