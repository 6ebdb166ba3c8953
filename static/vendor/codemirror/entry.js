// What static/js/editor.js takes from CodeMirror. ../update.py makes one module of it.
import { css } from "@codemirror/lang-css";
import { go } from "@codemirror/lang-go";
import { html } from "@codemirror/lang-html";
import { javascript } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { markdown } from "@codemirror/lang-markdown";
import { php } from "@codemirror/lang-php";
import { python } from "@codemirror/lang-python";
import { rust } from "@codemirror/lang-rust";
import { sql } from "@codemirror/lang-sql";
import { xml } from "@codemirror/lang-xml";
import { yaml } from "@codemirror/lang-yaml";
import { StreamLanguage } from "@codemirror/language";
import { c, cpp, csharp, dart, java, kotlin, scala } from "@codemirror/legacy-modes/mode/clike";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { properties } from "@codemirror/legacy-modes/mode/properties";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { swift } from "@codemirror/legacy-modes/mode/swift";
import { toml } from "@codemirror/legacy-modes/mode/toml";

export { autocompletion } from "@codemirror/autocomplete";
export { indentWithTab } from "@codemirror/commands";
export { indentUnit, syntaxHighlighting } from "@codemirror/language";
export { MergeView, unifiedMergeView } from "@codemirror/merge";
export { openSearchPanel } from "@codemirror/search";
export { EditorState } from "@codemirror/state";
export { EditorView, keymap } from "@codemirror/view";
export { classHighlighter } from "@lezer/highlight";
export { basicSetup } from "codemirror";

const mode = (parser) => () => StreamLanguage.define(parser);
const script = (options) => () => javascript(options);

// By what follows the last dot of a file's name, or by the whole name.
const LANGUAGES = {
  "c h": mode(c),
  "cc cpp cxx hh hpp": mode(cpp),
  "cs": mode(csharp),
  "css": css,
  "dart": mode(dart),
  "diff patch": mode(diff),
  "dockerfile containerfile": mode(dockerFile),
  "go": go,
  "html htm vue svelte": html,
  "ini cfg properties env editorconfig": mode(properties),
  "java": mode(java),
  "js cjs mjs jsx": script({ jsx: true }),
  "json jsonc webmanifest": json,
  "kt kts": mode(kotlin),
  "lua": mode(lua),
  "md markdown mdx": markdown,
  "php": php,
  "py pyi": python,
  "rb gemfile rakefile": mode(ruby),
  "rs": rust,
  "scala": mode(scala),
  "sh bash zsh": mode(shell),
  "sql": sql,
  "swift": mode(swift),
  "toml": mode(toml),
  "ts cts mts": script({ typescript: true }),
  "tsx": script({ jsx: true, typescript: true }),
  "xml svg xsd xsl": xml,
  "yaml yml": yaml,
};

/** The extension for the language of a file; nothing for one that is not known. */
export function languageOf(name) {
  const ending = name.split(".").at(-1).toLowerCase();
  const known = Object.keys(LANGUAGES).find((endings) => endings.split(" ").includes(ending));
  return known ? LANGUAGES[known]() : [];
}
