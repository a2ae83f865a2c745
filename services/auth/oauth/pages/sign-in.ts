import { html } from "./html.js";
import type { Shown } from "./page.js";

/** What the page of a sign-in shows. */
export interface SignInShown {
  /** Where its form goes. */
  readonly action: string;
  readonly csrf: string;
  readonly leadsTo: readonly string[];
  readonly clientName: string;
  /** What was entered before. */
  readonly email: string;
  /** Why that was not enough, as a sentence; "" for nothing. */
  readonly problem: string;
  /** Other ways to sign in: what each is called, and where it is. */
  readonly others: readonly { readonly label: string; readonly href: string }[];
}

/** Asks for an e-mail address and a password. */
export function signInPage(shown: SignInShown): Shown {
  const { action, csrf, leadsTo, clientName, email, problem, others } = shown;
  const body = html`<p>Sign in to connect <b>${clientName}</b>.</p>
${problem !== "" && html`<p class="bad" role="alert" id="problem">${problem}</p>`}
<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
<label>E-mail address<input type="email" name="email" value="${email}" autocomplete="username" required autofocus></label>
<label>Password<input type="password" name="password" autocomplete="current-password" required></label>
<div class="buttons"><button class="main">Sign in</button></div>
</form>
${others.length > 0 && html`<div class="buttons">${others.map(({ label, href }) => html`<a class="button" href="${href}">${label}</a>`)}</div>`}`;
  return { title: "Sign in", body, leadsTo, status: problem === "" ? 200 : 401 };
}

/** What the page of a new password shows. */
export type NewPasswordShown = Pick<SignInShown, "action" | "csrf" | "leadsTo" | "problem"> & {
  readonly email: string;
};

/** Asks for a new password, at the first sign-in or when an administrator has set the old one. */
export function newPasswordPage({ action, csrf, leadsTo, problem, email }: NewPasswordShown): Shown {
  const body = html`<p>Somebody else has chosen the password of <b>${email}</b>. Choose one that only you know.</p>
${problem !== "" && html`<p class="bad" role="alert" id="problem">${problem}</p>`}
<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
<label>E-mail address<input class="given" type="email" name="username" value="${email}" autocomplete="username" readonly></label>
<label>Password until now<input type="password" name="current" autocomplete="current-password" required autofocus></label>
<label>New password<input type="password" name="next" autocomplete="new-password" minlength="12" maxlength="128" required></label>
<p class="faint">At least 12 characters.</p>
<div class="buttons"><button class="main">Change the password</button></div>
</form>`;
  return { title: "Choose a new password", body, leadsTo, status: problem === "" ? 200 : 400 };
}
