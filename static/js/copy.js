// Buttons that copy the text of another element.
import { announce } from "./notify.js";
import { toast } from "./toast.js";
import { _ } from "./words.js";

async function copyText(node) {
  // The clipboard exists on https and localhost only.
  if (navigator.clipboard) return navigator.clipboard.writeText(node.innerText);
  getSelection().selectAllChildren(node);
  if (!document.execCommand("copy")) throw new Error("refused");
  return getSelection().empty();
}

/** Copy what the button names, and show that it was copied. */
export async function copy(button) {
  try {
    await copyText(document.querySelector(button.dataset.copyFrom));
    button.dataset.copied = "";
    setTimeout(() => delete button.dataset.copied, 1500);
    announce(_("Copied."));
  } catch {
    toast(_("The browser did not allow copying. Select the text instead."), "bad");
  }
}
