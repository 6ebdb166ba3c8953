// Forms that a passkey or security key fills in.
const make = {
  create: async ({ publicKey }, form) => {
    if (form.elements.passwordless?.checked) {
      Object.assign(publicKey.authenticatorSelection, { residentKey: "required", requireResidentKey: true, userVerification: "required" });
    }
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) });
  },
  get: async ({ publicKey }) => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) }),
};

async function optionsOf({ dataset }) {
  if (dataset.options) return JSON.parse(dataset.options);
  const response = await fetch(dataset.optionsUrl, { headers: { "X-Requested-With": "XMLHttpRequest" } });
  return (await response.json()).request_options;
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const error = form.querySelector("[data-passkey-error]");
  if (!globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON) continue;
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    error.hidden = true;
    try {
      const credential = await make[form.dataset.passkey](await optionsOf(form), form);
      form.elements.credential.value = JSON.stringify(credential);
      form.submit();
    } catch {
      error.hidden = false;
    }
  });
}
