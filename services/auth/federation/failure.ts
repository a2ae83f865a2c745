import * as oidc from "openid-client";
import { MisbehavedError } from "../../shared/isolation/misbehaved.js";
import { RefusedAddressError } from "../../shared/outgoing/guard.js";
import { isUnanswered } from "../../shared/outgoing/unanswered.js";
import { SignInRefusedError } from "./refusal.js";
import type { ProviderSetting } from "./setting.js";

/** What went wrong between us and a provider, as the person is told of it. */
export function failureOf(error: unknown, { label }: ProviderSetting): SignInRefusedError {
  if (error instanceof SignInRefusedError) return error;
  if (error instanceof oidc.AuthorizationResponseError) {
    const said =
      error.error === "access_denied"
        ? `${label} did not sign you in: the sign-in was cancelled there, or you may not use this service. Start again, or ask an administrator.`
        : `${label} could not sign you in. Start again; if it happens again, ask an administrator to read the log.`;
    return new SignInRefusedError("provider_refused", said, {}, error);
  }
  if (error instanceof oidc.ResponseBodyError && error.status < 500) {
    const said = `${label} did not complete the sign-in. Start again; if it happens again, ask an administrator to read the log.`;
    return new SignInRefusedError("provider_refused", said, {}, error);
  }
  if (isAway(error)) {
    const said = `${label} does not answer now. Try again in a minute, or sign in with your password.`;
    return new SignInRefusedError("provider_unavailable", said, {}, error);
  }
  const said = `${label} sent an answer that cannot be verified. Start again; if it happens again, ask an administrator to read the log.`;
  return new SignInRefusedError("not_verified", said, {}, error);
}

/** What a log may hold of an error: no answer, which may hold tokens. */
export function wordsOf(error: unknown): string {
  return chainOf(error)
    .map((one) => {
      if (one instanceof RefusedAddressError) return `${one.message} (${one.detail})`;
      if (one instanceof oidc.ResponseBodyError || one instanceof oidc.AuthorizationResponseError)
        return `${one.message}: ${one.error} ${one.error_description ?? ""}`;
      return one.message;
    })
    .map((words) => words.replace(/\p{C}/gu, " ").trim().slice(0, MAX_WORDS))
    .filter((words, at, all) => words !== "" && words !== all[at - 1])
    .join(": ");
}

/** The library's words for no answer in time, and for one that has another status or is no JSON. */
const AWAY: ReadonlySet<unknown> = new Set(
  ["TIMEOUT", "ABORT", "RESPONSE_IS_NOT_CONFORM", "RESPONSE_IS_NOT_JSON", "PARSE_ERROR"].map((word) => `OAUTH_${word}`),
);
const MAX_WORDS = 500;
const MAX_DEPTH = 5;

/** No answer, or none of the kind that the protocol has: nothing is known to be false. */
function isAway(error: unknown): boolean {
  return chainOf(error).some(
    (one) =>
      one instanceof MisbehavedError ||
      one instanceof RefusedAddressError ||
      one instanceof oidc.ResponseBodyError ||
      AWAY.has((one as { readonly code?: unknown }).code) ||
      isUnanswered(one),
  );
}

function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && chain.length < MAX_DEPTH; one = one.cause) chain.push(one);
  return chain;
}
