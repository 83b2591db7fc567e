// Buttons that copy what is in a field. Where the clipboard cannot be reached, the field is selected, to copy by keys.

const { t } = globalThis.fcpairLanguage;
const said = document.getElementById("copied");

async function copy(button) {
  const field = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(field.value);
    said.textContent = t("Copied.");
  } catch {
    field.focus();
    field.select();
    said.textContent = t("Selected: press Ctrl+C to copy.");
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}
