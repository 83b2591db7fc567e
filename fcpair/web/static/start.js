// Sends a file as it is, such as the table that a study starts from, since the server writes it to a file as it comes.

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

upload?.addEventListener("submit", send);
