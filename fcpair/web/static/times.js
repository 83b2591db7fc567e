// Times on a page are in UTC, as the server writes them. They are written anew in the zone of the reader and the form of
// the page, also those of a part that has just been read anew; to the day alone where only that is known.

const { locale } = globalThis.fcpairLanguage;
const MOMENT = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });

function writeTimes(part) {
  for (const time of part.querySelectorAll("time[datetime]:not([title])")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title = time.textContent;
    time.textContent = ("day" in time.dataset ? DAY : MOMENT).format(at);
  }
}

writeTimes(document);
document.addEventListener("htmx:afterSwap", (event) => writeTimes(event.detail.target));
