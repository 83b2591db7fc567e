// What the desk keeps for times without a connection, and where: shared by the pages and by the service worker, which
// cannot import a module in every browser.

globalThis.fcpairKept = Object.freeze({
  PAGE: "fcpair-kept", // a cache: one person's desk and texts
  FILES: "fcpair-files-", // caches: what every page of one version consists of
  NO_CONNECTION: "/offline", // among the files: the page that says so,
  NOT_SENT: "/offline/form", // the one after a form that did not reach the server,
  NOT_LEFT: "/offline/leave", // and the one for who wanted to leave
  AT: "x-fcpair-kept-at",
  LONGEST_MS: 24 * 3600 * 1000,
  CHANNEL: "fcpair-kept", // a message says that all has been forgotten

  // Deletes what is one person's, and lets the pages that are open know.
  async forget() {
    await caches.delete(this.PAGE);
    const channel = new BroadcastChannel(this.CHANNEL);
    channel.postMessage("forgotten");
    channel.close();
  },

  isFresh(at) {
    return Date.now() - Number(at) < this.LONGEST_MS;
  },
});
