// What a repository's JavaScript finds as `@opencode-ai/plugin` and `zod`: `tool` and a small part
// of its schema builder. Nothing is installed; the hosts are given this text before their own.
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
