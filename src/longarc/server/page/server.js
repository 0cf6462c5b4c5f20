// Requests to the server that sent this page, and what to say when they fail.

const TOKEN = "longarc-token";

export class Failure extends Error {
  constructor(status, message, hint = "", line = null) {
    super(message);
    Object.assign(this, { status, hint, line });
  }
}

/** Takes a token out of the address, where it should not stay. */
export function takeToken() {
  const address = new URL(location.href);
  const token = address.searchParams.get("token");
  if (token === null) return;
  setToken(token);
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
}

export function setToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

/** The server's answer as an object; Failure where there is none, or a refusal. */
export async function ask(path, body) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = { headers };
  if (body !== undefined) {
    options.method = "POST";
    options.body = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Failure(0, "The server does not answer.", "Is longarc serve still running? Your text is still here.");
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  throw new Failure(response.status, sentence(answer?.error ?? `The server answered ${response.status}`),
    answer?.hint ?? "", answer?.line ?? null);
}

function sentence(text) {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
