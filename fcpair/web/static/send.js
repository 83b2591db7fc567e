// Sends a file as it is, with how much of it has gone, since the server writes it to a file as it comes. What else the
// form asks for is in the address.

const { t } = globalThis.fcpairLanguage;
const MEGABYTE = 1024 * 1024;

function sentence(words) {
  const text = words.replaceAll("`", "");
  const isNamed = /^(`|\S*\.\w+[:,])/.test(words); // by a file, whose name stays as it is
  return (isNamed ? text[0] : text[0].toUpperCase()) + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

function send(form) {
  const { send: address, csrf, most } = form.dataset;
  const [file] = form.querySelector("[type=file]").files;
  const said = form.querySelector("[role=alert]");
  const button = form.querySelector("button");
  const say = (words) => (said.textContent = words);
  if (!file) return say(t("Choose a file first."));
  if (file.size > Number(most)) {
    return say(t("The file has more than %(n)s MB, which is the limit here.", { n: Number(most) / MEGABYTE }));
  }
  say("");
  const bar = Object.assign(document.createElement("progress"), { max: 1, value: 0 });
  bar.setAttribute("aria-label", t("Sending %(name)s", { name: file.name }));
  button.before(bar);
  button.disabled = true;
  const request = new XMLHttpRequest();
  const query = new URLSearchParams({ name: file.name, ...Object.fromEntries(new FormData(form)) });
  request.open("POST", `${address}${address.includes("?") ? "&" : "?"}${query}`);
  request.setRequestHeader("X-CSRF-Token", csrf);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    if (loaded < total) bar.value = loaded / total;
    else bar.removeAttribute("value"); // the server looks at it now
  });
  request.addEventListener("loadend", () => {
    bar.remove();
    button.disabled = false;
    if (request.status === 200) return location.assign(request.responseText);
    const isSentence = request.getResponseHeader("Content-Type")?.startsWith("text/plain");
    if (!request.status) say(t("The file did not reach the server; try again."));
    else say(isSentence ? sentence(request.responseText) : t("The file was not taken; load this page again."));
  });
  request.send(file);
}

for (const form of document.querySelectorAll("[data-send]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}
