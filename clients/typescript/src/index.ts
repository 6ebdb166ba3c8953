import createFetchClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type { components, paths };
export type Schemas = components["schemas"];

export interface Options {
  /** Address of the server, such as https://agents.example.org */
  baseUrl: string;
  /** An API token */
  token: string;
  /** `team/project` or its folder on the server; the token's default otherwise */
  project?: string;
}

/** Calls by path and method, with the types of the server's OpenAPI document. */
export function createClient({ baseUrl, token, project }: Options): Client<paths> {
  const headers: Record<string, string> = { Authorization: `Bearer ${token}` };
  if (project !== undefined) headers["x-opencode-directory"] = encodeURIComponent(project);
  return createFetchClient<paths>({ baseUrl, headers });
}
