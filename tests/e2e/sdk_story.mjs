// One piece of work by the genuine JavaScript client; prints what it saw as one line of JSON.
// Arguments: the client's module, the server's address, a token, the prompt.
const [module, baseUrl, token, prompt] = process.argv.slice(2);
const { createOpencodeClient } = await import(module);
const client = createOpencodeClient({
  baseUrl,
  headers: { Authorization: `Bearer ${token}` },
  throwOnError: true,
});
const data = async (call) => (await call).data;
const story = { events: [], deltas: "" };

const project = await data(client.project.current());
story.project = project.id;
const session = await data(client.session.create({ body: { title: "By the SDK" } }));
story.created = session;
const path = { id: session.id };

const stream = await client.event.subscribe();
const idle = (async () => {
  for await (const event of stream.stream) {
    const { type, properties } = event;
    const of = properties.sessionID ?? properties.part?.sessionID ?? properties.info?.sessionID;
    if (type !== "server.connected" && of !== session.id) continue;
    story.events.push(type);
    if (type === "message.part.delta" && properties.field === "text") {
      story.deltas += properties.delta;
    }
    if (type === "permission.asked") {
      story.asked = properties.permission;
      await client.postSessionIdPermissionsPermissionId({
        path: { id: session.id, permissionID: properties.id },
        body: { response: "once" },
      });
    }
    if (type === "session.idle") return;
  }
})();

const model = { providerID: "demo", modelID: "inline" };
const parts = [{ type: "text", text: prompt }];
story.answer = await data(client.session.prompt({ path, body: { model, parts } }));
await idle;
story.messages = await data(client.session.messages({ path }));
story.diff = await data(client.session.diff({ path }));
story.listed = (await data(client.file.list({ query: { path: "." } }))).map((file) => file.name);
const read = async () => (await data(client.file.read({ query: { path: "till.py" } }))).content;
story.changed = await read();
story.found = (await data(client.find.files({ query: { query: "till" } })));
story.matches = (await data(client.find.text({ query: { pattern: "def total" } }))).length;
const asked = story.messages[0].info.id;
await client.session.revert({ path, body: { messageID: asked } });
story.reverted = await read();
await client.session.unrevert({ path });
story.restored = await read();
story.forked = (await data(client.session.fork({ path, body: {} }))).id;
story.sessions = (await data(client.session.list())).map((row) => row.id);
story.status = await data(client.session.status());
story.agents = (await data(client.app.agents())).map((agent) => agent.name);
story.shared = (await data(client.session.share({ path }))).share.url;
story.told = (await data(client.session.get({ path }))).share;
story.unshared = (await data(client.session.unshare({ path }))).share ?? null;
story.deleted = await data(client.session.delete({ path: { id: story.forked } }));
const gone = await client.session.get({ path: { id: story.forked }, throwOnError: false });
story.gone = { status: gone.response.status, name: gone.error?.name };
console.log(JSON.stringify(story));
process.exit(0);
