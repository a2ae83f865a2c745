import type { ServerResponse } from "node:http";
import { type Html, html } from "./html.js";
import { STYLE_PATH } from "./style.js";

/** A page that a person sees while a client connects. */
export interface Shown {
  readonly title: string;
  readonly body: Html;
  readonly status?: number;
  /**
   * Where the answer to its form may lead besides ourselves: browsers hold the
   * redirect to the client against `form-action` too.
   */
  readonly leadsTo?: readonly string[];
}

/** Where pages are sent from. */
export interface Site {
  /** The path of the public base URL, without a last slash. */
  readonly base: string;
  /** The name that users see. */
  readonly serviceName: string;
}

/** A page as it is sent. */
export interface Written {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Writes a page that no other site can frame, and that runs no script. */
export function writePage(site: Site, { title, body, status = 200, leadsTo = [] }: Shown): Written {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    `form-action ${["'self'", ...leadsTo].join(" ")}`,
  ];
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    // Not no-referrer: with it a browser sends `Origin: null` along with forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
  };
  return { status, headers, body: wholeOf(site, title, body).text };
}

/** Sends a page. */
export function sendPage(response: ServerResponse, site: Site, shown: Shown): void {
  const { status, headers, body } = writePage(site, shown);
  response.writeHead(status, headers).end(body);
}

function wholeOf({ base, serviceName }: Site, title: string, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${serviceName}</title>
<link rel="stylesheet" href="${base}${STYLE_PATH}">
</head>
<body>
<main>
<p class="brand">${serviceName}</p>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}
