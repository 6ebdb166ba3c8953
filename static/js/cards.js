// Questions of the agent. What announces and answers them comes with the first.
import { eachPage } from "./page.js";

let dock, asked, heard;

async function look(aloud) {
  if (asked || !document.querySelector("[data-permission]")) return;
  asked = true;
  (await import("./ask.js")).start(dock, aloud);
  heard = true;
}

eachPage(() => {
  dock = document.querySelector("[data-permissions]");
  asked = false;
  look(false);
  if (dock) new MutationObserver(() => look(true)).observe(dock, { childList: true, subtree: true });
});

// Until then they are deaf: nobody can have read what has just come.
document.addEventListener("submit", (event) => {
  if (heard || !event.target.closest("[data-permission]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);
