// Linear's own client against the played Linear, and its own check of a played delivery.
// node linear_sdk.mjs <package> <address> <key> <secret> <body> <signature> <documents>
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [folder, address, key, secret, body, signature, documents] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(folder, file)).href);
const { LinearClient } = await load("dist/index.mjs");
const { LinearWebhookClient } = await load("dist/webhooks/index.mjs");
const client = new LinearClient({ apiKey: key, apiUrl: `${address}/graphql` });
const ask = async (query, variables = {}) => {
  try {
    return (await client.client.rawRequest(query, variables)).data;
  } catch (error) {
    const { type, requestsRemaining, requestsResetAt } = error;
    return { type, name: error.constructor.name, requestsRemaining, requestsResetAt };
  }
};
const told = {};
for (const { name, query, variables } of JSON.parse(readFileSync(documents))) {
  told[name] = await ask(query, variables);
}
const raw = readFileSync(body);
const check = (body, given) => {
  try {
    return new LinearWebhookClient(secret).verify(body, given);
  } catch (error) {
    return String(error.message);
  }
};
const sent = new LinearWebhookClient(secret).parseData(raw, signature);
const late = Buffer.from(JSON.stringify({ ...sent, webhookTimestamp: Date.now() - 61_000 }));
told.webhook = {
  right: check(raw, signature),
  wrong: check(raw, "0".repeat(64)),
  late: check(late, createHmac("sha256", secret).update(late).digest("hex")),
  type: sent.type,
  issue: sent.data.issue.identifier,
};
console.log(JSON.stringify(told));
