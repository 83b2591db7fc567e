// How long a pair has been looked at: the time for which its page was visible, not paused.

export class Watch {
  #seen_ms = 0;
  #since = null;
  #held = false;

  constructor() {
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#stop() : this.#go()));
  }

  restart() {
    this.#seen_ms = 0;
    this.#since = null;
    this.release();
  }

  hold() {
    this.#held = true;
    this.#stop();
  }

  release() {
    this.#held = false;
    this.#go();
  }

  #go() {
    if (!this.#held && !document.hidden) this.#since ??= performance.now();
  }

  #stop() {
    this.#seen_ms = this.ms;
    this.#since = null;
  }

  get ms() {
    return this.#seen_ms + (this.#since === null ? 0 : performance.now() - this.#since);
  }
}
