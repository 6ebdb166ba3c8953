// Questions of the agent. What announces and answers them comes with the first.
const dock = document.querySelector("[data-permissions]");
let asked, heard;

async function look(aloud) {
  if (asked || !document.querySelector("[data-permission]")) return;
  asked = true;
  (await import("./ask.js")).start(dock, aloud);
  heard = true;
}

look(false);
if (dock) new MutationObserver(() => look(true)).observe(dock, { childList: true, subtree: true });

// Until then they are deaf: nobody can have read what has just come.
document.addEventListener("submit", (event) => {
  if (heard || !event.target.closest("[data-permission]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);
