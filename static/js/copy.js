// Buttons that copy the text of another element.
import { announce } from "./notify.js";
import { toast } from "./toast.js";
import { _ } from "./words.js";

// Lines of a file stand in a table beside their numbers.
function textOf(node) {
  // Fences of code in a message are hidden, parts of a path are blocks.
  if (node.matches(".prompt-text, [id^=path-]")) return node.textContent;
  const lines = [...node.querySelectorAll(".diff-code")];
  return lines.length ? lines.map((line) => line.textContent).join("\n") : node.innerText;
}

async function copyText(node) {
  // The clipboard exists on https and localhost only.
  if (navigator.clipboard) return navigator.clipboard.writeText(textOf(node));
  getSelection().selectAllChildren(node);
  if (!document.execCommand("copy")) throw new Error("refused");
  return getSelection().empty();
}

/** Copy what the button names, or the block that it stands in, and say so. */
export async function copy(button) {
  const { copyFrom, share } = button.dataset;
  const source = () => (copyFrom ? document.querySelector(copyFrom) : button.parentElement);
  if (share === "" && navigator.share) return navigator.share({ url: source().textContent }).catch(() => {});
  // What is cut is loaded first; a failure says so in its place.
  const body = button.closest("[id^=body-]");
  const more = body?.querySelector("[hx-target^='#body-']");
  if (more) {
    await htmx.ajax("GET", more.href, { source: more, target: body, swap: "outerHTML" });
    if (more.isConnected) return;
    button = document.querySelector(`#${body.id} [data-copy-from]`);
    button.focus();
  }
  try {
    await copyText(source());
    announce((button.dataset.copied = _("Copied.")));
    setTimeout(() => delete button.dataset.copied, 2000);
  } catch {
    toast(_("The browser did not allow copying. Select the text instead."), "bad");
  }
}
