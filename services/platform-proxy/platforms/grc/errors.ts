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

const HIDDEN = "not found: it does not exist on the grc platform, or you may not see it";

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
        return failedPrecondition("the grc platform does not offer this; its version or its modules lack it");
      }
      return notFound(HIDDEN);
    case 429:
      return passing(resourceExhausted, "the grc platform takes no more requests now", "try again in a minute");
  }
  if (reply.status >= 500) {
    return brokenOff(read, unavailable, `the grc platform failed to answer (status ${reply.status})`);
  }
  if (reply.status >= 300 && reply.status <= 399) return MOVED();
  return failedPrecondition(
    `the grc platform refused this with the unexpected status ${reply.status}; an administrator checks its version and its address`,
  );
}

const MOVED = () =>
  failedPrecondition("the grc platform redirects to another address; an administrator registers it under that one");

/** What is left to do after the token was taken: the pending one of a 401's flows (allauth headless specification). */
const PENDING: Readonly<Record<string, string>> = {
  mfa_authenticate: "asks for a second factor, which cannot be given here; ask its administrator",
  verify_email: "has not verified your e-mail address; sign in there once and do so",
};

/** Why the platform gave no session for our token. */
export function exchangeRefusalOf(reply: HttpReply): ConnectError {
  switch (reply.status) {
    case 200:
      return failedPrecondition("the grc platform took the sign-in and gave no session; its version is not supported");
    case 401: {
      const { data } = (bodyOf(reply) ?? {}) as { data?: { flows?: { id: string; is_pending?: boolean }[] } };
      const flow = data?.flows?.find(({ is_pending }) => is_pending)?.id ?? "";
      const pending = Object.hasOwn(PENDING, flow) ? PENDING[flow] : undefined;
      if (pending !== undefined) return permissionDenied(`the grc platform ${pending}`);
      return permissionDenied("your account on the grc platform is not active; ask its administrator");
    }
    case 403:
      return permissionDenied(
        "the grc platform has no account with your e-mail address; ask its administrator for one",
      );
    case 400:
      return failedPrecondition(
        "the grc platform did not accept the sign-in; an administrator checks that its OpenID Connect settings name this service, the client id, and that the clocks agree",
      );
    case 404:
      return failedPrecondition(
        "the grc platform offers no sign-in by token; an administrator sets it up or chooses bearer",
      );
    case 429:
      return passing(resourceExhausted, "the grc platform takes no more sign-ins now", "try again in a minute");
    case 500:
      // Its answer to a client id other than the one in its settings.
      return failedPrecondition(
        "the grc platform failed at the sign-in; an administrator checks that its OpenID Connect settings hold the same client id",
      );
  }
  if (reply.status >= 300 && reply.status <= 399) return MOVED();
  return unavailable(`the grc platform answered the sign-in with the unexpected status ${reply.status}`);
}

function badRequest(body: unknown): ConnectError {
  const problems = problemsOf(body);
  const text = problems.map(({ field, text }) => (field === "" ? text : `${field}: ${text}`)).join("; ");
  const all = (pattern: RegExp) => problems.length > 0 && problems.every((p) => pattern.test(p.text));
  if (all(/is already used in this scope/)) {
    return alreadyExists(
      problems.map(({ field }) => `${field}: already used in this domain; choose another`).join("; "),
    );
  }
  if (all(/object does not exist|^select a valid choice\. [0-9a-f]{8}-/i)) {
    return notFound(problems.map(({ field }) => `${field}: ${HIDDEN}`).join("; "));
  }
  const locked = problems.find((p) => /\blocked\b/.test(p.text))?.text;
  if (locked !== undefined) {
    const what = /risk assessment/.test(locked) ? "risk assessment" : "audit";
    return failedPrecondition(`the ${what} is locked; it is unlocked on the platform before anything of it can change`);
  }
  if (problems.some((p) => /\bin review\b/.test(p.text))) {
    return failedPrecondition(
      "the audit is in review, and nothing of it can change meanwhile; who manages it ends the review on the platform",
    );
  }
  if (problems.some((p) => /^cannot modify\b/.test(p.text))) return failedPrecondition(text);
  if (all(/^list index out of range$/)) return invalidArgument("a value lies outside its scale");
  if (problems.length === 0) return invalidArgument("the grc platform refused the request and gave no reason");
  return invalidArgument(text);
}

function unauthorized(body: unknown): ConnectError {
  if (/no active account/i.test(detailOf(body))) {
    return permissionDenied("the grc platform has no active account with your e-mail address; ask its administrator");
  }
  return failedPrecondition(
    "the grc platform did not accept the sign-in; an administrator checks that it trusts this service and that the clocks agree",
  );
}

function forbidden(body: unknown, read: boolean): ConnectError {
  if (detailOf(body) !== "" && !read) {
    return permissionDenied(
      "you may see this on the grc platform but not change it; ask its administrator for the right",
    );
  }
  for (const { field, text } of problemsOf(body)) {
    // A link to something hidden is answered as one to something that is not there.
    if (/to link to this/i.test(text)) return notFound(`${field}: ${HIDDEN}`);
    if (field === ARGUMENTS.folder)
      return permissionDenied("you may not add objects in this domain of the grc platform");
  }
  return permissionDenied("the grc platform does not let you do this; ask its administrator for the right");
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

function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value !== "string") return [];
  // Some lists arrive printed inside a text, some texts with a warning sign.
  const text = value
    .slice(0, 2 * MAX_TEXT)
    .replace(/^\[['"]+|['"]+\]$/g, "")
    .replace(/^[^\p{L}\p{N}"“]+/u, "");
  return [`${text.charAt(0).toLowerCase()}${text.slice(1, MAX_TEXT)}`.replace(/\.$/, "")];
}
