import { afterAll, beforeAll, expect, test } from "vitest";
import { createEmailDomains } from "../../../../../services/auth/email-domains.js";
import { type AssertedPerson, userOfAssertion } from "../../../../../services/auth/oauth/id-jag/user.js";
import { type Stack, startStack } from "../../stack.js";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const SUBJECT = { issuer: "https://idp.example", subject: "one" };
const user = async (more: Partial<AssertedPerson>) => {
  const person = { ...SUBJECT, email: undefined, emailVerified: true, ...more };
  const found = await userOfAssertion(stack.records, person, createEmailDomains(undefined));
  return "unlinked" in found ? found.unlinked : found.login;
};

test("one subject of two tenants of an issuer is two persons", async () => {
  expect(await user({ tenant: "acme", email: "admin@example.org" })).toBe("admin@example.org");
  expect(await user({ tenant: "acme" })).toBe("admin@example.org");
  expect(await user({ tenant: "fabrikam" })).toMatch(/not linked/);
  expect(await user({})).toMatch(/not linked/);
  expect(await user({ tenant: "fabrikam", email: "analyst@example.org" })).toBe("analyst@example.org");
  expect(await user({ tenant: "acme" })).toBe("admin@example.org");
  // The same user is not a second person of the same issuer.
  expect(await user({ email: "admin@example.org" })).toMatch(/another identity of the same provider/);
});
