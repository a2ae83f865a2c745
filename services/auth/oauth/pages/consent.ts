import { html } from "./html.js";
import type { Shown } from "./page.js";

/** What a person is asked to allow. */
export interface ConsentShown {
  readonly action: string;
  readonly csrf: string;
  readonly leadsTo: readonly string[];
  readonly email: string;
  readonly clientName: string;
  /** The host of the client's document; "" for a client that registered itself. */
  readonly clientHost: string;
  /** Where the browser is sent afterwards: a host, or the scheme of an app. */
  readonly redirect: string;
  /** Whoever listens there is on the person's own machine. */
  readonly isLocal: boolean;
  /** What the server is about, and its URL. */
  readonly subject: string;
  readonly resource: string;
  /** The client asks to change things, not only to read. */
  readonly asksToWrite: boolean;
  readonly until: Date;
}

const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });

/** Asks whether a client may call an MCP endpoint as the person. */
export function consentPage(shown: ConsentShown): Shown {
  const { action, csrf, leadsTo, email, clientName, clientHost, redirect, isLocal, subject, resource } = shown;
  const body = html`<p><b>${clientName}</b> asks to use ${subject} as <b>${email}</b>.</p>
<dl>
<dt>Client</dt><dd>${clientName} ${clientHost === "" ? html`<span class="faint">(registered itself; nobody has verified the name)</span>` : html`<span class="faint">(described at</span> <b>${clientHost}</b><span class="faint">)</span>`}</dd>
<dt>Sends you to</dt><dd><b id="redirect">${redirect}</b></dd>
<dt>Server</dt><dd>${resource}</dd>
<dt>Until</dt><dd>${DAY.format(shown.until)}, or when you or an administrator end the connection</dd>
</dl>
${isLocal && html`<p class="warn">The answer goes to a program on this computer. Allow this only if you have just started to connect from this computer.</p>`}
<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
<fieldset>
<legend>It may</legend>
<label class="choice"><input type="checkbox" checked disabled> read what you may read there</label>
${shown.asksToWrite && html`<label class="choice"><input type="checkbox" name="write" value="yes" checked> create, change and delete what you may</label>`}
</fieldset>
<div class="buttons">
<button class="main" name="answer" value="allow">Allow</button>
<button name="answer" value="deny">Deny</button>
</div>
<p class="faint">Not ${email}? <button class="link" name="answer" value="switch">Sign in as somebody else</button></p>
</form>`;
  return { title: `Connect ${clientName}?`, body, leadsTo };
}
