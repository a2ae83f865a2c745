import { assert, emailAddress, property, string } from "fast-check";
import { expect, test } from "vitest";
import { normalEmail } from "../../../services/auth/emails.js";

test("every address has one spelling, whatever its case", async () => {
  await assert(
    property(emailAddress(), (email) => {
      const normal = normalEmail(email);
      return normal === normalEmail(normal) && normal === normalEmail(email.toUpperCase());
    }),
  );
});

test("what comes out is plain ASCII in lower case, whatever goes in", async () => {
  await assert(
    property(string({ unit: "binary" }), string({ unit: "binary" }), (local, domain) => {
      try {
        const normal = normalEmail(`${local}@${domain}.example`);
        return /^[!-~]+@[a-z0-9.-]+$/.test(normal) && normal === normal.toLowerCase();
      } catch (error) {
        return (error as Error).message.includes("email");
      }
    }),
    { numRuns: 2_000 },
  );
});

test("a domain in its own script and in ASCII is the same domain", () => {
  expect(normalEmail("ana@BÜCHER.example")).toBe(normalEmail("ana@xn--bcher-kva.example"));
});

test.each([
  "ana@1.2.3.4",
  "ana@[::1]",
  "ana@example.org/x",
  "ana@exa mple.org",
  "ana@ex%61mple.org",
  "a@b@",
  "ana@example.1",
])("%s is refused", (email) => {
  expect(() => normalEmail(email)).toThrow(/such as ana@example.org/);
});
