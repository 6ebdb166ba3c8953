// The genuine `samlp`. Arguments: the folder of its packages, the port, the address for answers, and
// the files of a key and a certificate. Whoever comes is grace@partner.example, in "developers".
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, port, answers, key, cert] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const samlp = require("samlp");
const options = {
  issuer: `http://localhost:${port}`,
  key: readFileSync(key),
  cert: readFileSync(cert),
  redirectEndpointPath: "/sso",
  postEndpointPath: "/sso",
  recipient: answers,
  destination: answers,
  getPostURL: (_audience, _request, _req, done) => done(null, answers),
  getUserFromRequest: () => ({
    id: "grace-1",
    emails: [{ value: "grace@partner.example" }],
    displayName: "Grace",
    name: { givenName: "Grace", familyName: "Hopper" },
    groups: ["developers"],
  }),
};
const app = require("express")();
app.get("/metadata", samlp.metadata(options));
app.get("/sso", samlp.auth(options));
app.listen(Number(port), "127.0.0.1", () => console.log("listening"));
