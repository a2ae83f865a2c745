import { html } from "./html.js";
import type { Shown } from "./page.js";

/** What a person sees whom another provider did not sign in. @param back the page of the sign-in; undefined if it is not known. */
export function notSignedInPage(problem: string, back: string | undefined): Shown {
  const body = html`<p class="bad" role="alert" id="problem">${problem}</p>
${back !== undefined && html`<div class="buttons"><a class="button" href="${back}">Sign in another way</a></div>`}`;
  return { title: "You are not signed in", body, status: 403 };
}
