// Starting a study: the table is sent as it is, since the server writes it to a file as it comes; and links are copied.

const { t } = globalThis.fcpairLanguage;
const upload = document.getElementById("upload");
const MEGABYTE = 1024 * 1024;

function say(words) {
  document.getElementById("upload-said").textContent = words;
}

async function send(event) {
  event.preventDefault();
  const { address, csrf, seen, most } = upload.dataset;
  const file = document.getElementById("file").files[0];
  const button = upload.querySelector("button");
  if (!file) return say(t("Choose a file first."));
  if (file.size > Number(most)) {
    return say(t("The file has more than %(n)s MB, which is the limit here.", { n: Number(most) / MEGABYTE }));
  }
  say("");
  button.setAttribute("aria-busy", "true");
  button.disabled = true;
  try {
    const { kind } = upload.elements; // of a study, where one is started
    const query = new URLSearchParams({ name: file.name, seen, ...(kind && { kind: kind.value }) });
    const headers = { "X-CSRF-Token": csrf, "Content-Type": "application/octet-stream" };
    const response = await fetch(`${address}${address.includes("?") ? "&" : "?"}${query}`, { method: "POST", headers, body: file });
    const words = await response.text();
    if (response.ok) return location.assign(words);
    const isSentence = response.headers.get("Content-Type")?.startsWith("text/plain");
    say(isSentence ? sentence(words) : t("The file was not taken; load this page again."));
  } catch {
    say(t("The file did not reach the server; try again."));
  } finally {
    button.removeAttribute("aria-busy");
    button.disabled = false;
  }
}

function sentence(words) {
  const text = words.replaceAll("`", "");
  return text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

async function copy({ currentTarget }) {
  const said = document.getElementById("copy-said");
  try {
    await navigator.clipboard.writeText(currentTarget.dataset.copy);
    said.textContent = t("Copied.");
  } catch {
    said.textContent = t("This browser does not let pages copy; select the link and copy it.");
  }
}

upload?.addEventListener("submit", send);
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", copy);
