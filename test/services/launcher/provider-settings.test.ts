import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { options } from "../../../services/launcher/config.js";
import { readProviders } from "../../../services/launcher/provider-settings.js";
import { helpOf, readConfig } from "../../../services/shared/process/config.js";

const dir = mkdtempSync(join(tmpdir(), "providers-"));
afterAll(() => rmSync(dir, { recursive: true }));

const least = {
  id: "corp",
  label: "Corp",
  issuer: "https://login.corp.example/realms/main",
  client_id: "sallyport",
  email_domains: ["corp.example"],
};
const read = (...given: object[]) => readProviders(JSON.stringify(given));
const problemOf = (...given: object[]): string => {
  try {
    read(...given);
  } catch (error) {
    return (error as Error).message;
  }
  return "";
};

test("the least that a provider needs, and what follows of itself", () => {
  expect(read(least)).toEqual([
    {
      ...{ id: "corp", label: "Corp", issuer: least.issuer, clientId: "sallyport", clientSecret: undefined },
      ...{ scopes: [], emailDomains: ["corp.example"], emailVerifiedClaim: "email_verified", createsUsers: false },
      ...{ groupsClaim: "groups", groups: new Map(), administrators: undefined },
    },
  ]);
});

test("all that it can have, and several of them", () => {
  const full = {
    ...{
      ...least,
      client_secret: "s3cr3t",
      scopes: ["openid", "groups"],
      email_domains: ["Corp.Example", "bücher.example"],
    },
    ...{ email_verified_claim: "xms_edov", creates_users: true, groups_claim: "roles" },
    ...{ groups: { "CN=soc,OU=groups": "SOC" }, administrators: "CN=admins" },
  };
  expect(read(full, { ...least, id: "partner", label: "Partner" })).toMatchObject([
    {
      ...{ clientSecret: "s3cr3t", scopes: ["groups"], emailDomains: ["corp.example", "xn--bcher-kva.example"] },
      ...{ emailVerifiedClaim: "xms_edov", createsUsers: true, groupsClaim: "roles", administrators: "CN=admins" },
      groups: new Map([["CN=soc,OU=groups", "SOC"]]),
    },
    { id: "partner" },
  ]);
});

const wrong: [object, string][] = [
  [{ id: "Corp" }, "[0].id must be"],
  [{ id: "../x" }, "[0].id must be"],
  [{ label: " " }, "[0].label must be"],
  [{ issuer: "http://login.corp.example" }, "[0].issuer must be the https URL"],
  [{ issuer: "https://user:word@login.corp.example" }, "[0].issuer must be"],
  [{ issuer: "https://login.corp.example?a" }, "[0].issuer must be"],
  [{ issuer: "javascript:alert(1)" }, "[0].issuer must be"],
  [{ client_id: "" }, "[0].client_id must be"],
  [{ client_id: undefined }, "[0].client_id is missing"],
  [{ email_domains: [] }, "[0].email_domains must be"],
  [{ email_domains: ["*"] }, "[0].email_domains must be"],
  [{ email_domains: ["@corp.example"] }, "[0].email_domains must be"],
  [{ email_domains: undefined }, "[0].email_domains is missing"],
  [{ creates_users: "yes" }, "[0].creates_users must be true or false"],
  [{ scopes: "groups" }, "[0].scopes must be"],
  [{ groups: { soc: 1 } }, "[0].groups must be"],
  [{ groups: ["soc"] }, "[0].groups must be"],
  [{ administrators: true }, "[0].administrators must be"],
  [{ client_secret: "a b" }, "[0].client_secret must be"],
  [{ client_secret: "hidden", client_secret_file: "/x" }, "exclude each other"],
  [{ clientSecret: "hidden" }, "[0].clientSecret is not a member: use id, label"],
  [{ constructor: "hidden" }, "[0].constructor is not a member"],
];
test.each(wrong)("%j is refused", (member, problem) => {
  const said = problemOf({ ...least, ...member });
  expect(said).toContain(problem);
  expect(said).not.toContain("hidden");
});

test("everything that is wrong is said at once, and where", () => {
  const said = problemOf(least, { ...least, issuer: "x", creates_users: 1 });
  for (const one of ["[1].issuer", "[1].creates_users", "the same id", "the same label"]) expect(said).toContain(one);
});

test.each(["", "{}", "[]", "[1]", "null", '[{"client_secret":"hidden"', JSON.stringify(Array(17).fill(least))])(
  "%j is no list of providers",
  (text) => {
    expect(() => readProviders(text)).toThrow(/^must be JSON|^must be a JSON list of 1 to 16 objects/);
    expect(() => readProviders(text)).not.toThrow(/hidden/);
  },
);

test("secrets come from files too, of each provider and of the whole setting", () => {
  const secret = join(dir, "secret");
  writeFileSync(secret, "from-a-file\n");
  const whole = join(dir, "providers.json");
  writeFileSync(whole, JSON.stringify([{ ...least, client_secret_file: secret }]));
  const { signInProviders } = options;
  const { signInProviders: found } = readConfig({ signInProviders }, [], { SIGN_IN_PROVIDERS_FILE: whole });
  expect(found).toMatchObject([{ clientSecret: "from-a-file" }]);
  writeFileSync(secret, "two words");
  expect(problemOf({ ...least, client_secret_file: secret })).toMatch(/must hold the secret alone, in ASCII$/);
  expect(problemOf({ ...least, client_secret_file: join(dir, "nothing") })).toMatch(
    /client_secret_file cannot be read/,
  );
  expect(helpOf({ signInProviders })).toContain("SIGN_IN_PROVIDERS_FILE");
  expect(() => readConfig({ signInProviders }, [], { SIGN_IN_PROVIDERS: "[]" })).toThrow(
    "--sign-in-providers (or SIGN_IN_PROVIDERS) must be a JSON list",
  );
});
