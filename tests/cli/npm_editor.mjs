// An editor on the npm SDK of the protocol. Given: where the SDK lies, the folder, the first prompt
// and the second one, then the command of the agent. Says one line of JSON.
import { spawn } from "node:child_process"
import { Readable, Writable } from "node:stream"
import { pathToFileURL } from "node:url"

const [sdk, cwd, first, second, command, ...options] = process.argv.slice(2)
const { client, methods, ndJsonStream } = await import(pathToFileURL(sdk).href)

async function working(work) {
  const updates = []
  const asked = []
  const agent = spawn(command, options, { cwd, stdio: ["pipe", "pipe", "inherit"] })
  const stream = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout))
  const editor = client({ name: "editor" })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      asked.push(params)
      return { outcome: { outcome: "selected", optionId: params.options[0].optionId } }
    })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update)
    })
  const ended = new Promise((done) => agent.on("exit", done))
  const said = await editor.connectWith(stream, async (ctx) => {
    const about = await ctx.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientCapabilities: {},
    })
    return { about, ...(await work(ctx)) }
  })
  agent.stdin.end()
  const text = (kind) => updates.filter((one) => one.sessionUpdate === kind)
    .map((one) => one.content.text).join("")
  return {
    ...said,
    text: text("agent_message_chunk"),
    prompts: text("user_message_chunk"),
    asked: asked.map((one) => one.options.map((option) => option.kind)),
    calls: updates.filter((one) => one.sessionUpdate === "tool_call").map((one) => one.kind),
    ends: updates.filter((one) => one.sessionUpdate === "tool_call_update").at(-1)?.status,
    exit: await ended,
  }
}

const { session } = methods.agent
let sessionId
const begun = await working(async (ctx) => {
  const made = await ctx.request(session.new, { cwd, mcpServers: [] })
  sessionId = made.sessionId
  const model = { sessionId, configId: "model", value: "demo/inline" }
  await ctx.request(session.setConfigOption, model)
  const prompt = [{ type: "text", text: first }]
  const { stopReason, usage } = await ctx.request(session.prompt, { sessionId, prompt })
  return { stopReason, usage, options: made.configOptions.map((one) => one.id) }
})
const again = await working(async (ctx) => {
  const { sessions } = await ctx.request(session.list, { cwd })
  await ctx.request(session.load, { sessionId, cwd, mcpServers: [] })
  const prompt = [{ type: "text", text: second }]
  const { stopReason } = await ctx.request(session.prompt, { sessionId, prompt })
  await ctx.request(session.close, { sessionId })
  return { stopReason, isListed: sessions.some((one) => one.sessionId === sessionId) }
})
console.log(JSON.stringify({ begun, again }))
