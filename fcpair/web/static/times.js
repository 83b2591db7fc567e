// Times on a page are in UTC, as the server writes them. They are written anew in the zone of the reader, and in the language of the page or, where that is English, of the browser,
// also those of a part that has just been read anew; to the day alone where only that is known.

const { lang } = document.documentElement;
const LOCALE = lang === "en" ? undefined : globalThis.fcpairLanguage.locale;
const MOMENT = new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(LOCALE, { dateStyle: "long" });

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
