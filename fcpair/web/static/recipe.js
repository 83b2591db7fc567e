// Sends a recipe and the files that it names, one after the other, each as it is.

const { t } = globalThis.fcpairLanguage;
const upload = document.getElementById("upload");

function say(words) {
  document.getElementById("upload-said").textContent = words;
}

function sentence(words) {
  const text = words.replaceAll("`", "");
  const isNamed = /^(`|\S*\.\w+[:,])/.test(words); // by a file, whose name stays as it is
  return (isNamed ? text[0] : text[0].toUpperCase()) + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

async function send(event) {
  event.preventDefault();
  const { address, csrf, most } = upload.dataset;
  const files = [...document.getElementById("file").files];
  if (!files.length) return say(t("Choose a file first."));
  if (files.some((file) => file.size > Number(most))) {
    return say(t("The file has more than %(n)s MB, which is the limit here.", { n: Number(most) / 1024 ** 2 }));
  }
  const button = upload.querySelector("button");
  const headers = { "X-CSRF-Token": csrf, "Content-Type": "application/octet-stream" };
  button.setAttribute("aria-busy", "true");
  button.disabled = true;
  try {
    let words = "";
    for (const file of files) {
      const query = new URLSearchParams({ name: file.name });
      const response = await fetch(`${address}?${query}`, { method: "POST", headers, body: file });
      words = await response.text();
      if (!response.ok) return say(sentence(words));
    }
    location.assign(words);
  } catch {
    say(t("The file did not reach the server; try again."));
  } finally {
    button.removeAttribute("aria-busy");
    button.disabled = false;
  }
}

upload.addEventListener("submit", send);
