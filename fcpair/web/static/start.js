// Sends a file as it is, such as a table that a study starts from, since the server writes it to a file as it comes; and
// shows at once how a table looks that is read in another way, and what the texts of a column may be called.

const { t } = globalThis.fcpairLanguage;
const MEGABYTE = 1024 * 1024;
const OK = 200;

// Sends a file by XMLHttpRequest, since `fetch` does not say how much of it has gone.
function send(address, file, csrf, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.setRequestHeader("X-CSRF-Token", csrf);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(Math.floor((100 * loaded) / total)));
    request.addEventListener("load", () => resolve(request));
    request.addEventListener("error", reject);
    request.send(file);
  });
}

function sentence(words) {
  const text = words.replaceAll("`", "");
  const isNamed = /^(`|\S*\.\w+[:,])/.test(words); // by a file, whose name stays as it is
  return (isNamed ? text[0] : text[0].toUpperCase()) + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

class Upload {
  constructor(form) {
    this.form = form;
    this.input = form.querySelector("input[type=file]");
    this.button = form.querySelector("button");
    this.progress = form.querySelector("progress");
    this.words = form.querySelector("[role=alert]");
    const begin = (event) => {
      event.preventDefault();
      this.send([...this.input.files]);
    };
    form.addEventListener("submit", begin);
    if (this.button) return;
    this.input.addEventListener("change", begin);
    form.addEventListener("dragover", (event) => this.over(event, true));
    form.addEventListener("dragleave", (event) => this.over(event, false));
    form.addEventListener("drop", (event) => {
      this.over(event, false);
      this.send([...event.dataTransfer.files]);
    });
  }

  over(event, isOver) {
    event.preventDefault();
    this.form.classList.toggle("is-over", isOver);
  }

  say(words) {
    this.words.textContent = words;
  }

  async send(files) {
    const { most, upload } = this.form.dataset;
    if (!files.length) return this.say(t("Choose a file first."));
    if (files.length > (this.input.multiple ? 2 : 1)) return this.say(t("These are too many files; choose one, or two tables that belong together."));
    if (files.some((file) => file.size > Number(most))) {
      return this.say(t("The file has more than %(n)s MB, which is the limit here.", { n: Number(most) / MEGABYTE }));
    }
    this.say("");
    this.work(true);
    try {
      let onward = "";
      for (const [at, file] of files.entries()) {
        onward = await this.sendOne(file, upload === "second" || at > 0, (percent) => this.show((100 * at + percent) / files.length));
        if (!onward) return;
      }
      location.assign(onward);
    } catch {
      this.say(t("The file did not reach the server; try again."));
    } finally {
      this.work(false);
    }
  }

  // The address that the server leads to, or none where it refused the file and said why.
  async sendOne(file, isSecond, onProgress) {
    const { address, csrf, seen, kind, upload } = this.form.dataset;
    const chosen = document.querySelector("[name=kind]:checked")?.value ?? kind;
    const query = new URLSearchParams({ name: file.name, seen, ...(upload !== undefined && { kind: chosen, second: isSecond ? "yes" : "" }) });
    const request = await send(`${address}${address.includes("?") ? "&" : "?"}${query}`, file, csrf, onProgress);
    if (request.status === OK) {
      this.form.dataset.seen = request.getResponseHeader("Draft-Version") ?? seen;
      return request.responseText;
    }
    const isSentence = request.getResponseHeader("Content-Type")?.startsWith("text/plain");
    this.say(isSentence ? sentence(request.responseText) : t("The file was not taken; load this page again."));
    return "";
  }

  work(isBusy) {
    this.button?.toggleAttribute("disabled", isBusy);
    this.button?.setAttribute("aria-busy", isBusy);
    this.input.disabled = isBusy;
    if (!isBusy) this.input.value = "";
    if (this.progress) this.progress.hidden = !isBusy;
    this.show(0);
  }

  show(percent) {
    if (!this.progress) return;
    this.progress.value = percent;
    this.progress.dataset.percent = `${Math.floor(percent)}`;
  }
}

for (const form of document.querySelectorAll("form[data-address]:not(#upload)")) new Upload(form);

// A step that came in answer to a form is asked for anew when somebody comes back to it, as if it had been a link.
const step = document.querySelector(".start-steps [aria-current]");
if (step) history.replaceState(null, "", step.href);

// A table that is read in another way is shown at once; nothing is kept by it.
document.addEventListener("change", async ({ target }) => {
  const reading = target.closest(".start-tables");
  if (!reading) return;
  const body = new URLSearchParams(new FormData(reading));
  body.set("act", "show");
  const response = await fetch(reading.action, { method: "POST", body });
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  document.getElementById("tables").replaceWith(page.getElementById("tables"));
  document.getElementById(target.id)?.focus();
});

// Until somebody has called the texts otherwise, they are called as the column that has them.
for (const side of ["hs", "cn"]) {
  const column = document.querySelector(`select#${side}`);
  const name = document.getElementById(`${side}_name`);
  if (!column || !name) continue;
  let noun = name.value;
  column.addEventListener("change", () => {
    const suggested = column.selectedOptions[0].dataset.noun;
    if (name.value === noun && suggested) name.value = noun = suggested;
  });
}
