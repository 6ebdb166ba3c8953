// The genuine `oidc-provider` with its own pages. Arguments: its folder, the port, the redirect
// address. Whoever signs in as NAME is NAME@corp.example and in the group "developers".
import { pathToFileURL } from "node:url";

const [folder, port, redirect] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(`${folder}/lib/index.js`));
const issuer = `http://localhost:${port}`;
const provider = new Provider(issuer, {
  clients: [{ client_id: "web", client_secret: "a-secret-of-tests", redirect_uris: [redirect] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
  conformIdTokenClaims: false,
  cookies: { keys: ["only-for-tests"] },
  pkce: { required: () => true },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@corp.example`, email_verified: true, name: id, groups: ["developers"] }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
