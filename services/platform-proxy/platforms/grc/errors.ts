import type { ConnectError } from "@connectrpc/connect";
import {
  alreadyExists,
  failedPrecondition,
  invalidArgument,
  notFound,
  permissionDenied,
  resourceExhausted,
  unavailable,
} from "../../../shared/rpc/errors.js";
import type { HttpReply } from "../../lib/http.js";
import { brokenOff, passing } from "../../lib/outcome.js";

/** What is said of a change to a locked audit or risk assessment. */
export const lockedBy = (what: string): string =>
  `the ${what} is locked and cannot change until its manager unlocks it in CISO Assistant`;

const HIDDEN = "not found: it does not exist in CISO Assistant, or you may not see it";

/** What the platform calls a field, in the words of the tools. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  applied_controls: "control_ids",
  assets: "asset_ids",
  compliance_assessment: "assessment_id",
  control_impact: "impact",
  ebios_rm_study: "study_id",
  evidences: "evidence_ids",
  existing_applied_controls: "existing_control_ids",
  folder: "domain_id",
  owner: "owner_actor_ids",
  parent_assets: "parent_asset_ids",
  progress_field: "progress",
  reference_control: "reference_control_id",
  reference_link: "link",
  risk_assessment: "risk_assessment_id",
};

/**
 * A refusal of the platform in words for the caller. The platform has many
 * forms of body for one status: text or lists by field, bare lists, `detail`,
 * `non_field_errors`, nothing, and HTML. Only its words about the caller's own
 * input are passed on.
 *
 * @param read nothing was to change, so that a failure leaves no doubt.
 */
export function refusalOf(reply: HttpReply, read: boolean): ConnectError {
  const body = bodyOf(reply);
  switch (reply.status) {
    case 400:
      return badRequest(body);
    case 401:
      return unauthorized(body);
    case 403:
      return forbidden(body, read);
    case 404:
      if (body === undefined) {
        return failedPrecondition("CISO Assistant does not offer this; its version or its modules lack it");
      }
      return notFound(HIDDEN);
    case 429:
      return passing(resourceExhausted, "CISO Assistant's rate limit is reached", "try again in a minute");
  }
  if (reply.status >= 500) {
    return brokenOff(read, unavailable, `CISO Assistant failed to answer (status ${reply.status})`);
  }
  if (reply.status >= 300 && reply.status <= 399) return MOVED();
  return failedPrecondition(
    `CISO Assistant refused this with the unexpected status ${reply.status}; an administrator checks its version and its address`,
  );
}

const MOVED = () =>
  failedPrecondition("CISO Assistant redirects to another address; an administrator registers it with that address");

/** What is left to do after the token was taken: the pending one of a 401's flows (allauth headless specification). */
const PENDING: Readonly<Record<string, string>> = {
  mfa_authenticate: "asks for a second factor, which you cannot give here; ask its administrator",
  verify_email: "has not verified your e-mail address; sign in to CISO Assistant once and verify it",
};

/** Why the platform gave no session for our token. */
export function exchangeRefusalOf(reply: HttpReply): ConnectError {
  switch (reply.status) {
    case 200:
      return failedPrecondition(
        "CISO Assistant accepted the sign-in but returned no session; this service does not support its version",
      );
    case 401: {
      const { data } = (bodyOf(reply) ?? {}) as { data?: { flows?: { id: string; is_pending?: boolean }[] } };
      const flow = data?.flows?.find(({ is_pending }) => is_pending)?.id ?? "";
      const pending = Object.hasOwn(PENDING, flow) ? PENDING[flow] : undefined;
      if (pending !== undefined) return permissionDenied(`CISO Assistant ${pending}`);
      return permissionDenied("your account in CISO Assistant is not active; ask its administrator");
    }
    case 403:
      return permissionDenied("CISO Assistant has no account with your e-mail address; ask its administrator for one");
    case 400:
      return failedPrecondition(
        "CISO Assistant did not accept the sign-in; an administrator checks that its OpenID Connect settings have the address of this service and the client id, and that both clocks show the same time",
      );
    case 404:
      return failedPrecondition(
        "CISO Assistant offers no sign-in by token; an administrator sets it up, or sets GRC_AUTH to bearer",
      );
    case 429:
      return passing(resourceExhausted, "CISO Assistant's rate limit for sign-ins is reached", "try again in a minute");
    case 500:
      // Its answer to a client id other than the one in its settings.
      return failedPrecondition(
        "CISO Assistant failed during the sign-in; an administrator checks that its OpenID Connect settings have the same client id as this service",
      );
  }
  if (reply.status >= 300 && reply.status <= 399) return MOVED();
  return unavailable(`CISO Assistant answered the sign-in with the unexpected status ${reply.status}; try again`);
}

function badRequest(body: unknown): ConnectError {
  const problems = problemsOf(body);
  const text = problems.map(({ field, text }) => (field === "" ? text : `${field}: ${text}`)).join("; ");
  const all = (pattern: RegExp) => problems.length > 0 && problems.every((p) => pattern.test(p.text));
  if (all(/is already used in this scope/)) {
    return alreadyExists(
      problems.map(({ field }) => `${field}: another object of this domain already uses it; choose another`).join("; "),
    );
  }
  if (all(/object does not exist|^select a valid choice\. [0-9a-f]{8}-/i)) {
    return notFound(problems.map(({ field }) => `${field}: ${HIDDEN}`).join("; "));
  }
  const locked = problems.find((p) => /\blocked\b/.test(p.text))?.text;
  if (locked !== undefined) {
    const what = /risk assessment/.test(locked) ? "risk assessment" : "audit";
    return failedPrecondition(lockedBy(what));
  }
  if (problems.some((p) => /\bin review\b/.test(p.text))) {
    return failedPrecondition(
      "the audit is in review and cannot change until its manager ends the review in CISO Assistant",
    );
  }
  if (problems.some((p) => /^cannot modify\b/.test(p.text))) return failedPrecondition(text);
  if (all(/^list index out of range$/))
    return invalidArgument("a value is outside its scale; read the object to see the scale");
  if (problems.length === 0)
    return invalidArgument("CISO Assistant refused the request and gave no reason; check the arguments");
  return invalidArgument(text);
}

function unauthorized(body: unknown): ConnectError {
  if (/no active account/i.test(detailOf(body))) {
    return permissionDenied("CISO Assistant has no active account with your e-mail address; ask its administrator");
  }
  return failedPrecondition(
    "CISO Assistant did not accept the sign-in; an administrator checks that it trusts this service and that both clocks show the same time",
  );
}

function forbidden(body: unknown, read: boolean): ConnectError {
  if (detailOf(body) !== "" && !read) {
    return permissionDenied(
      "you may see this in CISO Assistant but not change it; ask its administrator for the right",
    );
  }
  for (const { field, text } of problemsOf(body)) {
    // A link to something hidden is answered as one to something that is not there.
    if (/to link to this/i.test(text)) return notFound(`${field}: ${HIDDEN}`);
    if (field === ARGUMENTS.folder)
      return permissionDenied(
        "you may not add objects to this domain of CISO Assistant; ask its administrator for the right",
      );
  }
  return permissionDenied("CISO Assistant does not let you do this; ask its administrator for the right");
}

function bodyOf(reply: HttpReply): unknown {
  try {
    return JSON.parse(reply.text);
  } catch {
    return undefined;
  }
}

function detailOf(body: unknown): string {
  const detail = (body as { detail?: unknown } | undefined | null)?.detail;
  return typeof detail === "string" ? detail : "";
}

interface Problem {
  /** The argument; "" for the whole. */
  readonly field: string;
  readonly text: string;
}

function problemsOf(body: unknown): Problem[] {
  if (typeof body !== "object" || body === null) return [];
  const problems = Array.isArray(body)
    ? textsOf(body).map((text) => ({ field: "", text }))
    : Object.entries(body).flatMap(([name, value]) => textsOf(value).map((text) => ({ field: fieldOf(name), text })));
  return problems.slice(0, MAX_PROBLEMS);
}

function fieldOf(name: string): string {
  return name === "non_field_errors" || name === "detail"
    ? ""
    : Object.hasOwn(ARGUMENTS, name)
      ? (ARGUMENTS[name] as string)
      : name;
}

const MAX_TEXT = 300;
const MAX_PROBLEMS = 10;

/** Codes that the platform gives in place of a sentence, for its own pages to translate. */
const CODES: Readonly<Record<string, string>> = {
  errorAssetGraphMustNotContainCycles:
    "this would make a cycle: an asset cannot support itself, directly or through other assets",
  errorRiskScenarioGraphMustNotContainCycles: "this would make a cycle: a risk scenario cannot follow from itself",
};

/** A code of this kind that is not known here: one word, with capitals inside. */
const CODE = /^[a-z]+(?:[A-Z][a-z]*)+$/;

function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value !== "string") return [];
  // Some lists arrive printed inside a text, some texts with a warning sign.
  const text = value
    .slice(0, 2 * MAX_TEXT)
    .replace(/^\[['"]+|['"]+\]$/g, "")
    .replace(/^[^\p{L}\p{N}"“]+/u, "");
  if (Object.hasOwn(CODES, text)) return [CODES[text]!];
  if (CODE.test(text)) return [`CISO Assistant does not accept this value (${text})`];
  return [`${text.charAt(0).toLowerCase()}${text.slice(1, MAX_TEXT)}`.replace(/\.$/, "")];
}
