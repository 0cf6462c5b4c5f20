// Sends requests to the server and reports failures.

const TOKEN = "longarc-token";

export class Failure extends Error {
  constructor(status, message, hint = "", line = null) {
    super(message);
    Object.assign(this, { status, hint, line });
  }
}

/** Moves the token from the address to the session storage. */
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

/** Returns the server's JSON response; throws Failure if there is none or if it is an error. */
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
    throw new Failure(0, "The server does not answer.", "Check that it is running. Your text is still here.");
  }
  const content = await response.json().catch(() => null);
  if (response.ok && content !== null) return content;
  throw new Failure(response.status, toSentence(content?.error ?? `The server answered ${response.status}`),
    content?.hint ?? "", content?.line ?? null);
}

function toSentence(text) {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
