import type { ConnectError } from "@connectrpc/connect";
import {
  aborted,
  failedPrecondition,
  invalidArgument,
  notFound,
  permissionDenied,
  resourceExhausted,
  unavailable,
  unimplemented,
} from "../../../shared/rpc/errors.js";
import { brokenOff, passing } from "../../lib/outcome.js";

/** One error of a GraphQL answer, as the platform shapes it. */
export interface GraphqlError {
  readonly message?: string;
  readonly extensions?: {
    readonly code?: string;
    readonly data?: { readonly doc_code?: string; readonly field?: string; readonly reason?: string };
  };
}

type Refusal = (error: GraphqlError, email: string) => ConnectError;

const LOCKED = "OpenCTI is still making another change to this object; try again in a few seconds";
const UNCLEARED = "this needs a marking that you are not cleared for; whoami lists the markings that you may set";

// What the platform sends beside its code can hold ids of objects and markings
// that the caller must not see, and its own failures hold internals: nothing of
// it is passed on. Each refusal is written anew from the code.
const BY_CODE: Readonly<Record<string, Refusal>> = {
  AUTH_REQUIRED: (_, email) =>
    permissionDenied(
      `OpenCTI does not sign ${email} in. Likely reasons: no account has this e-mail address, the account is inactive or expired, the clock of OpenCTI is wrong, or OpenCTI trusts another address of this service; an administrator of OpenCTI finds the reason in its log`,
    ),
  FORBIDDEN_ACCESS: () =>
    permissionDenied("your OpenCTI account lacks the right to do this; whoami lists the rights that it has"),
  OTP_REQUIRED: () =>
    permissionDenied("your OpenCTI account must confirm a one-time password first; sign in to OpenCTI once"),
  OTP_REQUIRED_ACTIVATION: () =>
    permissionDenied("your OpenCTI account must set up one-time passwords first; sign in to OpenCTI once"),
  PASSWORD_CHANGE_REQUIRED: () =>
    permissionDenied("your OpenCTI account must change its password first; sign in to OpenCTI once"),
  LTS_REQUIRED_ACTIVATION: () =>
    failedPrecondition("the OpenCTI licence is not active; an administrator of OpenCTI activates it"),
  MISSING_REFERENCE_ERROR: ({ extensions }) =>
    extensions?.data?.reason !== undefined
      ? permissionDenied(UNCLEARED)
      : notFound("an object that this refers to does not exist or is not visible to you"),
  FUNCTIONAL_ERROR: functional,
  VALIDATION_ERROR: ({ extensions }) => validation(extensions?.data?.field),
  ALREADY_DELETED_ERROR: () => notFound("the object is already deleted"),
  UNSUPPORTED_ERROR: unsupported,
  RESOURCE_NOT_FOUND: () => notFound("OpenCTI does not offer this"),
  LOCK_ERROR: () => aborted(LOCKED),
  DRAFT_LOCKED: () =>
    failedPrecondition(
      "OpenCTI refused the change because a draft is locked; an administrator of OpenCTI checks the draft",
    ),
  BAD_USER_INPUT: () =>
    invalidArgument("OpenCTI refused a value because its format is wrong; check ids and other arguments"),
  GRAPHQL_VALIDATION_FAILED: unsupportedVersion,
  GRAPHQL_PARSE_FAILED: unsupportedVersion,
  BAD_REQUEST: unsupportedVersion,
};

/**
 * Says in words for the caller why the platform refused.
 *
 * @param writes something was to change, so that a failure leaves a doubt.
 */
export function refusalOf(errors: readonly GraphqlError[], email: string, writes = false): ConnectError {
  const error = (errors[0] ?? {}) as GraphqlError;
  const code = String(error.extensions?.code ?? "");
  const refusal =
    (Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined) ??
    (code.startsWith("OTP_") ? BY_CODE.OTP_REQUIRED : undefined);
  const said = refusal?.(error, email) ?? failure(error, writes);
  said.cause = new Error(`platform error ${code} ${error.extensions?.data?.doc_code ?? ""}`.trim());
  return said;
}

/** Says that what answered was not the platform's API. */
export function unreadable(status: number, writes: boolean, email?: string): ConnectError {
  if (status === 401 || status === 403) {
    return permissionDenied(
      `OpenCTI, or a proxy in front of it, refused the connection for ${email ?? "you"}; an administrator checks its list of allowed addresses`,
    );
  }
  if (status === 429) return passing(resourceExhausted, "OpenCTI's rate limit is reached", "try again in a minute");
  if (status === 413) return resourceExhausted("the request is larger than OpenCTI accepts; send less at a time");
  return brokenOff(
    !writes,
    unavailable,
    `OpenCTI, or a proxy in front of it, answered with status ${status} and not with its API`,
  );
}

function unsupported({ message = "", extensions }: GraphqlError): ConnectError {
  if (extensions?.data?.doc_code === "RESTRICTED_ELEMENT" || /^Restricted relation/.test(message))
    return permissionDenied("OpenCTI does not let you create this object");
  if (extensions?.data?.doc_code === "SELF_REFERENCING_RELATION")
    return invalidArgument("both ends are the same object; OpenCTI relates no object to itself");
  return invalidArgument("OpenCTI does not support this filter, order or change");
}

function functional({ message = "", extensions }: GraphqlError): ConnectError {
  switch (extensions?.data?.doc_code) {
    case "INSUFFICIENT_CONFIDENCE_LEVEL":
      return permissionDenied(
        "the object's confidence is above the maximum that your OpenCTI account may change; whoami shows your max_confidence",
      );
    case "INCORRECT_OBSERVABLE_FORMAT":
      return invalidArgument("value: does not have the format of an observable of this type");
    case "INCORRECT_INDICATOR_FORMAT":
      return invalidArgument("pattern: does not have the format of its pattern type");
  }
  const pair = /^The relationship type ([a-z-]+) is not allowed between ([\w-]+) and ([\w-]+)$/.exec(message);
  if (pair !== null) {
    return invalidArgument(`relationship_type: ${pair[1]} is not allowed from ${pair[2]} to ${pair[3]}`);
  }
  const attribute = /failed on attribute \[([\w.-]{1,80})\]/.exec(message);
  if (attribute !== null) return invalidArgument(`${attribute[1]}: OpenCTI refused the value`);
  if (/cannot be found\.?$/.test(message)) return notFound("the object does not exist or is not visible to you");
  if (/missing markings/.test(message)) return permissionDenied(UNCLEARED);
  // The caller could see no other of that name before, so what bears it may be hidden: its existence is not told.
  if (/produce a duplicate/.test(message))
    return failedPrecondition("OpenCTI does not accept this name for the object; choose another name");
  if (/stix-core-relationship/.test(message)) return invalidArgument("relationship_type: OpenCTI has no such type");
  if (/must be an Identity/.test(message))
    return invalidArgument("author: must be an organization, individual or other identity");
  if (/pattern type/i.test(message)) return invalidArgument("pattern_type: OpenCTI has no such pattern type");
  if (/cant generate pattern/.test(message))
    return failedPrecondition("OpenCTI cannot create a detection pattern for this type of object");
  if (/references for commit/.test(message))
    return notFound("an external reference does not exist or is not visible to you");
  if (/^Missing required elements/.test(message)) return invalidArgument("a required field is missing or blank");
  return failedPrecondition("OpenCTI refused the change");
}

function validation(field: string | undefined): ConnectError {
  if (field === "references" || field === "externalReferences") {
    return failedPrecondition(
      "OpenCTI requires an external reference for this type of object; give external_reference_ids, or make the change in OpenCTI itself if this tool has no such argument",
    );
  }
  if (field !== undefined && /^[\w.-]{1,80}$/.test(field))
    return invalidArgument(`${field}: OpenCTI refused the value`);
  return invalidArgument("OpenCTI refused a value; check the arguments");
}

function unsupportedVersion(): ConnectError {
  return unimplemented("this version of OpenCTI does not support the operation; an administrator checks the version");
}

function failure({ message = "" }: GraphqlError, writes: boolean): ConnectError {
  // Right after a deletion a lock is reported as an accident.
  if (String(message).includes("LOCK_ERROR")) return aborted(LOCKED);
  const said = "OpenCTI failed to process this request";
  return brokenOff(!writes, unavailable, said, { advice: "try again; if it fails again, tell its administrator" });
}
