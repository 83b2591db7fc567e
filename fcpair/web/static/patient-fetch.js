// Requests that the server may put off, because it lets those who answer go first.

const BUSY = 503;
const LATER_S = 3; // where the server does not say when
const TRIES = 20;

// The response to a request, which is made again where the server is busy.
export async function fetchPatiently(address) {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(address);
    if (response.status !== BUSY || tries === TRIES) return response;
    const wait_s = Number(response.headers.get("Retry-After")) || LATER_S;
    await new Promise((done) => setTimeout(done, 1000 * wait_s));
  }
}
