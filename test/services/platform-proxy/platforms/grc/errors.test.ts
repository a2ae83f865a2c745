import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import type { HttpReply } from "../../../../../services/platform-proxy/lib/http.js";
import { isLeftOpen } from "../../../../../services/platform-proxy/lib/outcome.js";
import { exchangeRefusalOf, refusalOf } from "../../../../../services/platform-proxy/platforms/grc/errors.js";

function reply(status: number, body: unknown): HttpReply {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers: {}, text, json: <T>() => JSON.parse(text) as T };
}

const HTML = "<!doctype html>\n<html><body><h1>Server Error (500)</h1></body></html>";
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const HIDDEN = "not found: it does not exist in CISO Assistant, or you may not see it";

describe("what the platform refuses is said to the caller", () => {
  test.each([
    ["lists by field", { eta: ["Date has wrong format."] }, "eta: date has wrong format"],
    [
      "fields in our words",
      { progress_field: ["Ensure this value is less than or equal to 100."] },
      "progress: ensure this value is less than or equal to 100",
    ],
    [
      "several fields",
      { name: ["This field is required."], link: ["Enter a valid URL."] },
      "name: this field is required; link: enter a valid URL",
    ],
    [
      "across fields",
      { non_field_errors: ["errorAssetGraphMustNotContainCycles"] },
      "this would make a cycle: an asset cannot support itself, directly or through other assets",
    ],
    [
      "a code that is not known here",
      { evidence: ["errorSomethingElse"] },
      "evidence: CISO Assistant does not accept this value (errorSomethingElse)",
    ],
    ["a bare list", ["list index out of range"], "a value is outside its scale; read the object to see the scale"],
    [
      "a filter",
      { status: ["Select a valid choice. bogus is not one of the available choices."] },
      "status: select a valid choice. bogus is not one of the available choices",
    ],
    ["a body that is not JSON", HTML, "CISO Assistant refused the request and gave no reason; check the arguments"],
  ])("400: %s", (_form, body, message) => {
    expect(refusalOf(reply(400, body), false)).toMatchObject({ code: Code.InvalidArgument, rawMessage: message });
  });

  test.each([
    ["a text", { name: "Log review is already used in this scope. Please choose another value." }],
    [
      "a list printed inside a list",
      { name: ["['Log review is already used in this scope. Please choose another value.']"] },
    ],
  ])("400: a duplicate name as %s", (_form, body) => {
    expect(refusalOf(reply(400, body), false)).toMatchObject({
      code: Code.AlreadyExists,
      rawMessage: "name: another object of this domain already uses it; choose another",
    });
  });

  test("400: a locked audit", () => {
    const body = { non_field_errors: ["⚠️ Cannot modify the requirement when the audit is locked."] };
    expect(refusalOf(reply(400, body), false)).toMatchObject({ code: Code.FailedPrecondition });
  });

  test("what does not exist and what is hidden read the same", () => {
    const answers = [
      refusalOf(reply(400, { evidences: [`Invalid pk "${UNKNOWN}" - object does not exist.`] }), false),
      refusalOf(reply(403, { evidences: "You do not have permission to link to this evidence" }), false),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ code: Code.NotFound, rawMessage: `evidence_ids: ${HIDDEN}` });
    }
    const filter = { folder: [`Select a valid choice. ${UNKNOWN} is not one of the available choices.`] };
    expect(refusalOf(reply(400, filter), true)).toMatchObject({
      code: Code.NotFound,
      rawMessage: `domain_id: ${HIDDEN}`,
    });
    expect(refusalOf(reply(404, { detail: "No AppliedControl matches the given query." }), true).rawMessage).toBe(
      HIDDEN,
    );
    expect(refusalOf(reply(404, { detail: "Not found." }), true).rawMessage).toBe(HIDDEN);
  });

  test.each([
    ["may be seen but not changed", { detail: "You do not have permission to perform this action." }, "may see this"],
    [
      "a folder that takes nothing",
      { folder: "You do not have permission to add objects in this folder" },
      "may not add objects",
    ],
    ["no body", "", "does not let you do this"],
  ])("403: %s", (_form, body, message) => {
    expect(refusalOf(reply(403, body), false)).toMatchObject({
      code: Code.PermissionDenied,
      rawMessage: expect.stringContaining(message),
    });
  });

  test("401: no account is told from a sign-in that is not trusted", () => {
    const none = refusalOf(reply(401, { detail: "No active account for this e-mail address." }), true);
    expect(none.code).toBe(Code.PermissionDenied);
    expect(refusalOf(reply(401, { detail: "Invalid token." }), true).code).toBe(Code.FailedPrecondition);
  });

  test("403 of a read does not say that the object may be seen", () => {
    const denied = refusalOf(reply(403, { detail: "You do not have permission to perform this action." }), true);
    expect(denied).toMatchObject({ code: Code.PermissionDenied, rawMessage: expect.not.stringContaining("may see") });
  });

  test("301: another address is registered than the platform answers under", () => {
    expect(refusalOf(reply(301, ""), true)).toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("redirects to another address"),
    });
  });

  test("404 as a page: the platform lacks the module", () => {
    expect(refusalOf(reply(404, HTML), true)).toMatchObject({ code: Code.FailedPrecondition });
  });

  test("500: a write leaves a doubt that a read does not, and no page is passed on", () => {
    expect(refusalOf(reply(500, HTML), true).rawMessage).toBe(
      "CISO Assistant failed to answer (status 500); try again",
    );
    expect(isLeftOpen(refusalOf(reply(500, HTML), false))).toBe(true);
    expect(refusalOf(reply(500, HTML), false).code).toBe(Code.Unavailable);
  });

  test("no text of the platform goes on without a bound", () => {
    expect(refusalOf(reply(400, { name: ["x".repeat(100_000)] }), false).rawMessage.length).toBeLessThan(400);
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`field_${i}`, ["x".repeat(300)]]));
    expect(refusalOf(reply(400, many), false).rawMessage.length).toBeLessThan(4_000);
  });
});

const pending = (id: string) => ({ status: 401, data: { flows: [{ id: "login" }, { id, is_pending: true }] } });

describe("a sign-in that the platform refuses", () => {
  test.each([
    [200, { status: 200, meta: { is_authenticated: true } }, Code.FailedPrecondition, "returned no session"],
    [301, "", Code.FailedPrecondition, "redirects to another address"],
    [400, { status: 400, errors: [{ code: "invalid_token" }] }, Code.FailedPrecondition, "both clocks"],
    [401, { status: 401, data: { flows: [{ id: "login" }] } }, Code.PermissionDenied, "not active"],
    [401, pending("mfa_authenticate"), Code.PermissionDenied, "asks for a second factor"],
    [401, pending("verify_email"), Code.PermissionDenied, "has not verified your e-mail address"],
    [403, { status: 403 }, Code.PermissionDenied, "no account with your e-mail address"],
    [404, HTML, Code.FailedPrecondition, "to bearer"],
    [429, { status: 429 }, Code.ResourceExhausted, "rate limit for sign-ins"],
    [500, HTML, Code.FailedPrecondition, "same client id"],
    [502, HTML, Code.Unavailable, "status 502"],
    [503, HTML, Code.Unavailable, "status 503"],
  ])("%d %j", (status, body, code, message) => {
    expect(exchangeRefusalOf(reply(status, body))).toMatchObject({
      code,
      rawMessage: expect.stringContaining(message),
    });
  });
});
