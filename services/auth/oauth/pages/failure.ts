import { html } from "./html.js";
import type { Shown } from "./page.js";

function unreadDocumentPage(): Shown {
  const body = html`<p id="problem">The service could not read the document in which the client describes itself.</p>
<p>Try again. If it happens again, ask an administrator: the service must be able to call the client's site, or have CLIENT_DOCUMENTS=off.</p>`;
  return { title: "This connection cannot go on", body, status: 400 };
}

/** What a person sees where the client cannot be told: it is not known, or not where it said. */
export function failurePage(error: string, description: string): Shown {
  if (description.includes("metadata document fetch failed")) return unreadDocumentPage();
  const body = html`<p id="problem">The client's request was refused: ${description || error}.</p>
<p class="faint">Start again in the client. If it happens again, remove the connection there and add it again. (${error})</p>`;
  return { title: "This connection cannot go on", body, status: 400 };
}
